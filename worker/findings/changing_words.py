"""What changed between two months, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from worker.core.drift.change import LEVEL
from worker.findings.claims import listed
from worker.findings.continuation import Shift, ThenAndNow
from worker.formats import counted
from worker.pool.since import Since

_ENOUGH = 20.0  # times as probable: what is called so

_FAR = 0.02  # a distance of the predictions that is worth a word, however sure it is

_NAMED = 5


def sentences(
    since: Since, pool: ThenAndNow, changed: Sequence[str], shift: Shift
) -> Iterator[str]:
    yield (
        f"{counted(since.labels, 'label')} of {since.assessment} "
        f"{'is' if since.labels == 1 else 'are'} taken over; each of them counts as "
        f"{pool.believed:.2f} of a new one at present."
    )
    if since.n_left_out:
        what = ", ".join(f"{name} ({n})" for name, n in list(since.left_out.items())[:_NAMED])
        left_out = counted(since.n_left_out, "label is", "labels are")
        yield f"{left_out} of what is not in this pool, and left out: {what}."
    if changed:
        more = f" and {len(changed) - _NAMED} more" if len(changed) > _NAMED else ""
        verb = "differs" if len(changed) == 1 else "differ"
        yield f"{listed(changed[:_NAMED])}{more} {verb} from what was known, for like items."
    elif pool.labels_now:
        yield (
            "No group is shown to differ from what was known; of groups with few labels that says "
            "little."
        )
    if pool.is_changed and pool.difference is not None:
        way = "lower" if pool.difference < 0 else "higher"
        yield f"The whole pool is {way} than it was, for like items."
    yield _of_inputs(since)
    yield _of_shift(shift)


def _of_inputs(since: Since) -> str:
    differing = [
        f"{what} (p = {p:.2g}, distance {distance:.3f})"
        for what, p, distance in (
            ("shares of the predicted classes", since.inputs.class_p, since.inputs.class_distance),
            ("scores", since.inputs.score_p, since.inputs.score_distance),
        )
        if p is not None and distance is not None and p <= LEVEL and distance >= _FAR
    ]
    if differing:
        return f"The inputs changed: the pools differ in the {' and the '.join(differing)}."
    return "The predictions give no sign that the inputs changed."


def _of_shift(shift: Shift) -> str:
    if shift.times is None:
        return f"Which kind of shift it is cannot be told: {shift.why}."
    known = {
        "covariate shift (other inputs, each judged as before)": shift.covariate,
        "label shift (other shares of the true classes)": shift.label,
        "a change of what predictions mean": shift.concept,
    }
    ordered = sorted(known.items(), key=lambda one: -(one[1] or 0.0))
    best, second = ordered[0][0], ordered[1][0]
    if shift.times < _ENOUGH:
        return f"The labels do not tell {best} from {second} ({shift.times:.1f} times as probable)."
    times = f"{min(shift.times, 1e6):,.0f}"
    return f"{best[:1].upper()}{best[1:]} explains the labels {times} times better than {second}."
