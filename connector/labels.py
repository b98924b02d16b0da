"""Labelling configuration -> classes; annotation JSON -> judgement."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, TypeGuard

from connector.errors import ConnectorError
from connector.ratings import Bins, number_in
from connector.schema import Schema

Status = Literal["valid", "skipped", "rejected"]


class BrokenAnnotation(ConnectorError):
    """An annotation lacks what Label Studio itself writes into every one."""

    def __init__(self, key: str, came: object) -> None:
        super().__init__(
            f"Label Studio sent an annotation whose {key!r} is {ascii(came)[:80]}, expected "
            f"{'a whole number' if key == 'id' else 'a time'}. People cannot write it, so this is "
            "no Label Studio, or something between it and us changes its answers; look there."
        )


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one annotation says about one item."""

    annotation: int
    author: int | None
    status: Status
    label: str | None  # the class, of a valid one
    reason: str  # why it was rejected, else empty
    at_us: int  # last change, microseconds since 1970 by Label Studio's clock
    seconds: float | None = None  # how long the annotator took


@dataclass(frozen=True, slots=True)
class TaskSnapshot:
    """One reading of one task: everything that Label Studio said of it at that moment."""

    task: int
    item: str  # data.item_id, empty when the task has none
    at_us: int  # the task's last change, microseconds since 1970 by Label Studio's clock
    is_closed: bool  # Label Studio serves it to nobody
    judgements: tuple[Judgement, ...]
    shown: str = ""  # `connector.shown.fingerprint` of its data


def microseconds(stamp: str) -> int:
    """Return Label Studio's time stamp as microseconds since 1970.

    Integers, because the stamps as text do not sort: a whole second comes without its fraction.
    One without an offset is UTC: our clock's zone has nothing to do with it.
    """
    moment = datetime.fromisoformat(stamp)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    whole = int(moment.replace(microsecond=0).timestamp())
    return whole * 1_000_000 + moment.microsecond


def judge(annotation: Mapping[str, Any], schema: Schema) -> Judgement:
    """Return what an annotation of Label Studio says; never raises on what a person can send.

    Label Studio checks nothing that it stores (facts: labels outside the configuration, empty
    results), so whatever does not answer the question becomes a rejected judgement with a reason.

    Raises:
        BrokenAnnotation: its id or its time of change, which no person writes, is not one.
    """
    author = annotation.get("completed_by")
    if isinstance(author, Mapping):
        author = author.get("id")
    number, stamp = annotation.get("id"), annotation.get("updated_at")
    if not _is_whole(number):
        raise BrokenAnnotation("id", number)
    try:
        at_us = microseconds(str(stamp))
    except (ValueError, OverflowError) as error:
        raise BrokenAnnotation("updated_at", stamp) from error
    status, label, reason = _verdict(annotation, schema, author)
    return Judgement(
        annotation=number,
        author=author if _is_whole(author) else None,
        status=status,
        label=label,
        reason=reason,
        at_us=at_us,
        seconds=_seconds(annotation.get("lead_time")),
    )


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _seconds(lead_time: object) -> float | None:
    """How long it took, where that is a time: the page sends whatever it likes.

    NaN would differ from itself, so that every reading of the same annotation were a change.
    """
    if isinstance(lead_time, bool) or not isinstance(lead_time, int | float):
        return None
    try:
        seconds = float(lead_time)
    except OverflowError:
        return None
    return seconds if math.isfinite(seconds) else None


def _verdict(
    annotation: Mapping[str, Any], schema: Schema, author: object
) -> tuple[Status, str | None, str]:
    if annotation.get("was_cancelled"):
        return "skipped", None, ""
    if not _is_whole(author):
        return "rejected", None, "nobody is named as its author"
    label, reason = said(annotation.get("result"), schema)
    return ("rejected" if label is None else "valid"), label, reason


def said(result: object, schema: Schema) -> tuple[str | None, str]:
    """The class that a result gives, of an annotation or a prediction; or None, and why not."""
    if not isinstance(result, list):
        return None, "its result is not a list"
    answers = [
        region
        for region in result
        if isinstance(region, Mapping) and region.get("from_name") == schema.control
    ]
    if not answers:
        what = "an empty result" if not result else f"no answer to {schema.control!r}"
        return None, what
    value = answers[0].get("value")
    if schema.bins is not None:
        return _rated(answers[1:], value, schema, schema.bins)
    labels = value.get("choices") if isinstance(value, Mapping) else None
    if len(answers) > 1 or not isinstance(labels, list) or len(labels) != 1:
        return None, f"not exactly one label for {schema.control!r}"
    label = labels[0]
    if label not in schema.labels:
        return None, f"the label {str(label)[:80]!r} is not one of the classes"
    return schema.counts_as.get(str(label), str(label)), ""


def _rated(
    more: Sequence[object], value: object, schema: Schema, bins: Bins
) -> tuple[str | None, str]:
    number = None if more or not isinstance(value, Mapping) else number_in(value)
    if number is None:
        return None, f"not exactly one number for {schema.control!r}"
    at = bins.place(number)
    if at is None:
        return None, f"the number {number:g} is not on the scale"
    return schema.labels[at], ""
