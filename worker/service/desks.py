"""The desk of an assessment: which Label Studio project, asked how."""

from __future__ import annotations

from connector.port import Desk
from connector.schema import Schema
from connector.settings import label_studio_settings
from worker.assessment.ratings import answers
from worker.plan import stored_plan
from worker.store import Header, Ledger
from worker.turn.overriding import Claimed


def desk_of(header: Header, ledger: Ledger) -> Desk:
    """Open the desk of the project that a header names.

    Args:
        ledger: of the assessment; it knows what was claimed.
    """
    # A report needs no desk, and must not wait for an HTTP client to load.
    from connector.client import connect as connect_label_studio
    from connector.desk import LabelStudioDesk
    from connector.prioritised import PrioritisedDesk

    settings = label_studio_settings(header.url)
    plan = stored_plan(header.plan)
    _, bins = answers(plan, header.labels)
    same = plan.annotation.counts_as
    schema = Schema(header.control, header.to_name, header.labels, bins, same)
    is_theirs = plan.queue.mode == "prioritise"
    shown = {key: name if is_theirs else key for key, name in plan.pool.data.items()}
    client, url, project = connect_label_studio(settings), settings.url, header.project
    if is_theirs:
        claimed = Claimed(ledger)
        return PrioritisedDesk(client, url, project, schema, shown, header.assessment, claimed)
    return LabelStudioDesk(client, url, project, schema, shown)
