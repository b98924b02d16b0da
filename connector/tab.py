"""The one tab of ours in a project's Data Manager: the open tasks, and progress as its title.

It has a filter and no ordering: from an ordered tab Label Studio serves tasks without locking them,
so that two people get the same one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from connector.border import label_studio_errors
from connector.port import TAB

if TYPE_CHECKING:
    from label_studio_sdk.client import LabelStudio

_ONCE: Any = {"max_retries": 0, "timeout": 10.0}

# The browser shows no such filter, and so never asks for tasks by it: "Label All Tasks" in our tab
# takes them from the project's queue, locks and all.
_OPEN: Any = {
    "conjunction": "and",
    "items": [
        {
            "filter": "filter:tasks:is_labeled",
            "operator": "equal",
            "type": "Boolean",
            "value": "false",
        }
    ],
}
# What stays empty here: we import neither predictions nor files.
_HIDDEN = [
    "tasks:inner_id",
    "tasks:total_predictions",
    "tasks:annotations_results",
    "tasks:annotations_ids",
    "tasks:predictions_score",
    "tasks:predictions_model_versions",
    "tasks:predictions_results",
    "tasks:file_upload",
    "tasks:storage_filename",
    "tasks:avg_lead_time",
    "tasks:draft_exists",
]
# Label Studio hands these out with a tab's data, and keeps them apart from it.
_KEPT_APART = ("filters", "ordering", "selectedItems")


def show_tab(client: LabelStudio, url: str, project: int, title: str) -> None:
    """Have one tab that begins with `TAB`, with this title; a title that is there costs no write.

    The tab is made once. Later only its title changes: what people did to its columns stays, and
    so do its filters, of which Label Studio would keep a copy for every time that they are sent.

    Raises:
        ConnectorError: as `label_studio_errors` says.
    """
    with label_studio_errors(url, f"the tabs of project {project}"):
        tabs = client.views.list(project=project)
        ours = [tab for tab in tabs if str((tab.data or {}).get("title", "")).startswith(TAB)]
        if ours:
            data = {k: v for k, v in ours[0].data.items() if k not in _KEPT_APART}
            if data["title"] != title:
                new: Any = {**data, "title": title}
                client.views.update(
                    str(ours[0].id), project=project, data=new, request_options=_ONCE
                )
            return
        if not tabs:
            # Label Studio makes this one for whoever opens a project without tabs. Were ours the
            # only one, nobody would see the labelled tasks.
            first = _tab("Default", _HIDDEN)
            client.views.create(project=project, data=first, request_options=_ONCE)
        made = _tab(title, [*_HIDDEN, "tasks:completed_at"]) | {"filters": _OPEN}
        client.views.create(project=project, data=made, request_options=_ONCE)


def _tab(title: str, hidden: list[str]) -> Any:
    columns = {"explore": hidden, "labeling": hidden}
    return {"title": title, "type": "list", "target": "tasks", "hiddenColumns": columns}
