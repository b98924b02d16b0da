"""Annotators and the fate of the items, from the stored records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from statistics import median

from connector.labels import Judgement
from worker.assessment import Assessment
from worker.findings.annotating import gold_answered
from worker.findings.fates import fates
from worker.findings.item_classes import likeliest_classes
from worker.report.contents import Items
from worker.report.contents_people import Annotator, Rejected
from worker.report.votes import GoldVotes, gold_votes, inferred, qualities
from worker.store import Ledger, State
from worker.store.records import Record
from worker.store.rules import votes_of

_HOUR_US = 3_600_000_000
N_REJECTED = 100


def label_times(records: Sequence[Record]) -> list[int]:
    """When the labels that count were given, microseconds since 1970."""
    counted = (r for r in records if r.outcome is not None and r.cell >= 0)
    valid = ([j for j in r.judgements() if j.status == "valid"] for r in counted)
    return [min(judged, key=lambda j: j.annotation).at_us for judged in valid]


def called(
    records: Sequence[Record], authors: Iterable[int], names: Mapping[int, str] | None = None
) -> dict[int, str]:
    """What a report calls each annotator, in the order of their first answers.

    Args:
        authors: all who ever answered or skipped, also those whose answers were deleted; these
            come last.
        names: what Label Studio's users are called; None: nobody is named.
    """
    first: dict[int, int] = {}
    for record in records:
        for j in record.judgements():
            if j.author is not None:
                first[j.author] = min(first.get(j.author, j.annotation), j.annotation)
    order = sorted(first, key=lambda author: first[author])
    order += sorted(set(authors) - set(first))
    return {author: _called(author, number, names) for number, author in enumerate(order, start=1)}


def annotators(
    work: Assessment,
    tally: Mapping[str, int],
    records: Sequence[Record],
    people: Mapping[int, str],
) -> tuple[Annotator, ...]:
    """What each did, and how good they are as far as it is known.

    Args:
        people: as `called` gives them; the annotators have their order.
    """
    gold = gold_votes(work, records)
    quality = qualities(gold, inferred(work, tally))
    classes: Mapping[str, str] = {}
    if work.rules.kind != "frequencies":  # there all votes count, and none of them alone
        classes = likeliest_classes(work, tally, records)
    did: defaultdict[int, list[tuple[Judgement, Record]]] = defaultdict(list)
    for record in records:
        for j in record.judgements():
            if j.author is not None:
                did[j.author].append((j, record))
    found = []
    for author, name in people.items():
        valid = [(j, r) for j, r in did[author] if j.status == "valid"]
        voted = {r.item: (votes_of(r.judgements())[author], r) for _, r in valid}
        hours = {j.at_us // _HOUR_US for j, _ in valid}
        seconds = [j.seconds for j, _ in valid if j.seconds is not None]
        in_pool = [(vote, r) for vote, r in voted.values() if r.cell >= 0]  # one vote an item
        shared = [
            vote == classes[r.item]
            for vote, r in in_pool
            if r.item in classes and _others(r, author)
        ]
        last = max((j.at_us for j, _ in did[author]), default=None)
        on_gold = None if gold is None else gold.get(author, GoldVotes(0, 0))
        mean, low, high = quality.get(author, (None, None, None))
        found.append(
            Annotator(
                name=name,
                labels=len(in_pool),
                skips=sum(j.status == "skipped" for j, _ in did[author]),
                per_hour=round(len(valid) / len(hours), 6) if hours else None,
                median_s=round(median(seconds), 6) if seconds else None,
                agreement=round(sum(shared) / len(shared), 6) if shared else None,
                last_at=None if last is None else _at(last),
                shared=len(shared),
                gold=None if on_gold is None else on_gold.n,
                gold_right=None if on_gold is None else on_gold.right,
                quality=mean,
                quality_low=low,
                quality_high=high,
            )
        )
    return tuple(found)


def items(work: Assessment, ledger: Ledger, state: State) -> Items:
    """How many items of the pool are where, and how many gold items were answered."""
    return Items(
        **asdict(fates(work, state)),
        foreign_tasks=sum(not item for *_, item in ledger.tasks().values()),
        gold=gold_answered(work, state),
    )


def rejected(ledger: Ledger) -> tuple[Rejected, ...]:
    """The latest annotations that could not be read."""
    every = sorted(ledger.rejected().items(), reverse=True)[:N_REJECTED]
    return tuple(Rejected(annotation, str(why["reason"])) for annotation, why in every)


def _at(us: int) -> str:
    return datetime.fromtimestamp(us // 10**6, UTC).isoformat(timespec="seconds")


def _others(record: Record, author: int) -> bool:
    return any(j.author != author and j.status == "valid" for j in record.judgements())


def _called(author: int, number: int, names: Mapping[int, str] | None) -> str:
    if names is None:
        return f"annotator {number}"
    return names.get(author, f"user {author} of Label Studio")
