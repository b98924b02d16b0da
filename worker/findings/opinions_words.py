"""What second opinions were worth, in words."""

from __future__ import annotations

from collections.abc import Sequence

from worker.findings.opinions_values import Estimate, Side
from worker.formats import count, counted, share

WHERE = ("it agrees", "it does not")
TOO_FEW = "There are too few labels yet to tell what that is worth."


def worth_text(
    name: str, agrees: float | None, silent: int, sides: Sequence[Side], right: str
) -> str:
    """One opinion in a sentence; empty where there is nothing to say.

    Args:
        agrees, silent, sides: as of `Worth`. right: as of `worker.metrics.Words`.
    """
    nothing = f"says nothing of {counted(silent, 'item')}" if silent else ""
    if agrees is None:
        return f"The opinion {name} {nothing}." if nothing else ""
    text = f"The opinion {name} "
    text += (
        f"{nothing} and agrees on {share(agrees)} of the others"
        if nothing
        else (f"agrees on {share(agrees)} of the items")
    )
    told = [
        f"{before} {_share_text(side.accuracy)}"
        for before, side in zip(
            (f"where it does, {right} is right in", "else in"), sides, strict=True
        )
        if side.accuracy is not None
    ]
    if not told and sides and all(side.labelled for side in sides):
        agreed, other = sides
        told = [
            f"of {counted(agreed.labelled, 'label')} where it does {agreed.right:,} found {right} "
            "right",
            f"of {other.labelled:,} where it does not {other.right:,}",
        ]
    return "; ".join([text, *([", ".join(told)] if told else [])]) + "."


def _share_text(of: Estimate) -> str:
    return f"{share(of.mean)} ({share(of.low)} to {share(of.high)})"


def saved_text(saved: Estimate | None, n: int) -> str:
    """How many labels so many opinions saved; None: it cannot be told."""
    if saved is None:
        return TOO_FEW
    if not saved.high:
        return "As all items are labelled, no label was saved."
    who = "It" if n == 1 else "All opinions together"
    labels = counted(round(saved.mean), "label")
    return f"{who} saved about {labels} ({count(saved.low)} to {count(saved.high)})."


def misleading_text(name: str, kind: str, right: str) -> str:
    """A warning: errors are where the opinion says that there are none."""
    where = f"is sure that {right} is right" if kind == "right" else "agrees"
    return (
        f"The opinion {name} misleads: where it {where} there are more errors, not fewer. Look "
        "whether its columns are what they should be. It does no harm, as what is believed of it "
        "is learnt from the labels."
    )


def tells_truth_text(name: str, against: int, n: int) -> str:
    """A warning: the opinion may be the true label."""
    which = f"all but {against:,} of" if against else "all of"
    return (
        f"The opinion {name} told right from wrong in {which} {counted(n, 'label')}. If its column "
        "holds the true labels there is nothing left to label: stop, and compare the columns. Else "
        "it is a very good opinion, and all is well."
    )
