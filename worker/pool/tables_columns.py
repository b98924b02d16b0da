"""Brings columns, as a file has them, to the three kinds that are used: text, numbers, lists."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from worker.errors import PredictionsError

# Bytes of one column in one piece: twenty pages of a book for each item of it.
MOST_TEXT = 1 << 30


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


def plain(name: str, array: pa.Array) -> pa.Array:
    """Return an array without a dictionary: one long text there may stand for all memory.

    Raises:
        PredictionsError: its texts are longer than MOST_TEXT together.
    """
    if not pa.types.is_dictionary(array.type):
        return array
    texts = array.dictionary
    if pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type):
        n = pc.sum(pc.cast(pc.binary_length(texts), pa.int64()).take(array.indices)).as_py() or 0
        if n > MOST_TEXT:
            raise PredictionsError(
                f"the column {name} holds {n >> 20:,} MB of text in {len(array):,} rows, expected "
                f"{MOST_TEXT >> 20:,} at most; leave long texts out, or name an address instead"
            )
    return array.dictionary_decode()


def as_text(name: str, array: pa.Array) -> pa.Array:
    array = plain(name, array)
    kind = array.type
    if pa.types.is_floating(kind) or pa.types.is_nested(kind) or pa.types.is_binary(kind):
        raise PredictionsError(
            f"the column {name} holds {kind}, expected text or whole numbers; write it as text"
        )
    return array.cast(pa.string())


def as_numbers(name: str, array: pa.Array) -> pa.Array:
    array = plain(name, array)
    kind = array.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise PredictionsError(f"the column {name} holds {kind}, expected numbers")
    return array if pa.types.is_float32(kind) else array.cast(pa.float64(), safe=False)


def as_lists(name: str, array: pa.Array) -> pa.Array:
    array = plain(name, array)
    kind = array.type
    if pa.types.is_string(kind):  # a CSV has its lists as text: [0.1, 0.9]
        bare = pc.utf8_trim(array, characters=" []()\t\r\n")
        there = pc.if_else(pc.equal(bare, ""), None, bare)
        split = pc.split_pattern_regex(there, r"[,;\s]+")
        return split.cast(pa.list_(pa.float64()))
    if pa.types.is_fixed_size_list(kind) or pa.types.is_large_list(kind) or pa.types.is_list(kind):
        return array.cast(pa.list_(pa.float64()))
    raise PredictionsError(f"the column {name} holds {kind}, expected a list of numbers")
