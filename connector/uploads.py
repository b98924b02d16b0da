"""Uploading a file to a project of Label Studio, whatever its labelling page shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx

from connector.errors import NotLabelStudio, Rejected
from connector.listing import TaskList
from connector.settings import people_url

if TYPE_CHECKING:
    from label_studio_sdk.client import LabelStudio

# Label Studio would make tasks of what is uploaded, and refuses what could be none: an image, where
# the page shows a text beside it. So a table is uploaded, of which nothing is imported, and is then
# replaced by the file.
_TABLE = ("assay.json", b'[{"data": {"assay": ""}}]')
_TOO_LARGE = 413


def upload(
    client: LabelStudio, url: str, project: int, name: str, content: bytes, options: Any
) -> str:
    """Upload a file; return the address by which the project's tasks show it.

    Who is signed in to Label Studio and may see the project can read it there. What is uploaded
    again is there twice.

    Raises:
        Rejected: Label Studio, or a proxy before it, does not take the file.
        ConnectorError.
    """
    tasks = TaskList(client, url, project)
    query = {"commit_to_project": "false"}
    # Nothing is in doubt if an answer is lost: no task shows the file yet.
    made = tasks.call("POST", "import", options, params=query, files={"file": _TABLE}, writes=False)
    numbers = made.get("file_upload_ids") if isinstance(made, dict) else None
    if not numbers:
        raise NotLabelStudio(url, 201, str(made)[:120])
    try:
        with tasks.errors():
            kept = client.files.update(id=numbers[0], file=(name, content), request_options=options)
    except (NotLabelStudio, Rejected) as error:
        if error.status != _TOO_LARGE:
            raise
        size = f"{len(content) / 1e6:.1f} MB"
        text = f"a file of {size} is more than it, or the proxy before it, takes at once"
        raise Rejected(url, _TOO_LARGE, text) from error
    if not str(kept.file).endswith(f"-{name}"):
        raise NotLabelStudio(url, 200, str(kept)[:120])
    # People may open Label Studio under a path, which stands before all of its own addresses.
    return f"{httpx.URL(people_url(url)).path.rstrip('/')}/data/{kept.file}"
