"""Whether texts are paths of images, sounds or videos, whatever their column is called."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from connector.media import NOT_SHOWN, TAGS
from worker.errors import PredictionsError

# So many of a column's values that are no addresses are paths of media files: the others are faults
# of a column of paths then, else it is a column of texts in which names of files may stand.
NEARLY_ALL = 0.9
# What browsers open, what Label Studio's storages do, and its own addresses.
ADDRESS = r"^(?:[A-Za-z][A-Za-z0-9+.-]*://|data:|//|/data/)"
_NO_ADDRESS = "file://"  # which no browser opens
_MEDIA = rf"(?i)\.(?:{'|'.join(one[1:] for one in (*TAGS, *NOT_SHOWN))})$"
_ENDING = 8  # characters in which every suffix lies


def are_paths(pieces: Iterable[pa.Array]) -> bool:
    """Whether a column holds paths of media files."""
    n_media = n_paths = 0
    for piece in pieces:
        is_one = is_path(piece)
        n_paths += pc.sum(is_one).as_py() or 0
        n_media += pc.sum(pc.and_(is_one, is_media(piece))).as_py() or 0
    return n_media > 0 and n_media >= NEARLY_ALL * n_paths


def made_whole(what: str, folder: str | None, column: pa.Array) -> pa.Array:
    """Return a column of paths with those that are relative as they are from / on.

    Args:
        what, folder: as of `sizes_of`.
    """
    is_relative = pc.and_not(is_path(column), pc.starts_with(column, "/"))
    if folder is None and pc.any(is_relative).as_py():
        raise elsewhere(what)
    above, slash = (pa.scalar(text, pa.large_string()) for text in (folder or "", "/"))
    return pc.if_else(is_relative, pc.binary_join_element_wise(above, column, slash), column)


def elsewhere(what: str) -> PredictionsError:
    return PredictionsError(
        f"{what} holds paths of files, relative to a folder that is on another machine; bring them "
        "and the predictions into a folder here, or write whole paths, or addresses"
    )


def is_path(column: pa.Array) -> pa.BooleanArray:
    """Where a value is neither empty nor an address."""
    is_address = pc.and_not(
        pc.match_substring_regex(column, ADDRESS), pc.starts_with(column, _NO_ADDRESS)
    )
    return pc.and_not(pc.not_equal(pc.utf8_trim_whitespace(column), ""), is_address)


def is_media(column: pa.Array) -> pa.BooleanArray:
    """Where a value ends as the name of an image, a sound or a video."""
    return pc.match_substring_regex(_endings(column), _MEDIA)


def suffixes(column: pa.Array) -> pa.Array:
    """The suffixes of paths, such as ".jpg"."""
    return pc.extract_regex(_endings(column), r"(?P<suffix>\.[A-Za-z0-9]+)$").field(0)


def _endings(column: pa.Array) -> pa.Array:
    return pc.utf8_slice_codeunits(column, -_ENDING)
