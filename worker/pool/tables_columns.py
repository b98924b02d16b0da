"""Brings columns, as a file has them, to the three kinds that are used: text, numbers, lists."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from worker.errors import PredictionsError


def converted(
    piece: pa.RecordBatch, texts: Sequence[str], numbers: Sequence[str], numbers_list: str | None
) -> pa.RecordBatch:
    """Return the named columns: texts as string, numbers as floats, the list as list<float64>.

    Raises:
        PredictionsError: a column holds something else.
    """
    arrays = {name: as_text(name, piece.column(name)) for name in texts}
    arrays |= {name: as_numbers(name, piece.column(name)) for name in numbers}
    if numbers_list is not None:
        arrays[numbers_list] = as_lists(name=numbers_list, array=piece.column(numbers_list))
    return pa.RecordBatch.from_arrays(list(arrays.values()), names=list(arrays))


def as_text(name: str, array: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    if pa.types.is_floating(kind) or pa.types.is_nested(kind) or pa.types.is_binary(kind):
        raise PredictionsError(
            f"the column {name} holds {kind}, expected text or whole numbers; write it as text"
        )
    return array.cast(pa.string())


def as_numbers(name: str, array: pa.Array) -> pa.Array:
    kind = array.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise PredictionsError(f"the column {name} holds {kind}, expected numbers")
    return array if pa.types.is_float32(kind) else array.cast(pa.float64(), safe=False)


def as_lists(name: str, array: pa.Array) -> pa.Array:
    kind = array.type
    if pa.types.is_string(kind):  # a CSV has its lists as text: [0.1, 0.9]
        bare = pc.utf8_trim(array, characters=" []()\t\r\n")
        split = pc.split_pattern_regex(bare, r"[,;\s]+")
        return split.cast(pa.list_(pa.float64()))
    if pa.types.is_fixed_size_list(kind) or pa.types.is_large_list(kind) or pa.types.is_list(kind):
        return array.cast(pa.list_(pa.float64()))
    raise PredictionsError(f"the column {name} holds {kind}, expected a list of numbers")
