"""The tables of the annotators and of their votes."""

from __future__ import annotations

from worker.report.contents import Report
from worker.report.tables import Column, Table

_MOST_ROWS = 400
MOST_MATRICES = 12  # annotators with a matrix each; of more one table has the mistakes


def people_table(report: Report) -> Table:
    """The annotators and their work, in the order of their first answers."""
    columns = (
        Column("Annotator", "annotators.{0}.name", "text"),
        Column("Items answered", "annotators.{0}.labels", "count"),
        Column("Skips", "annotators.{0}.skips", "count"),
        Column("Answers an hour", "annotators.{0}.per_hour", "rate"),
        Column("Median time", "annotators.{0}.median_s", "seconds"),
        Column("Agreement", "annotators.{0}.agreement", "share"),
        Column("Last answer", "annotators.{0}.last_at", "when"),
    )
    caption = "Annotators, in the order of their first answers"
    return Table("annotators", caption, columns, [(n,) for n in range(len(report.annotators))])


def quality_table(report: Report) -> Table:
    """What is known of how often each is right; without rows if nothing is."""
    people = report.annotators
    has_gold = any(one.gold for one in people)
    has_shared = any(one.shared for one in people)
    has_quality = any(one.quality is not None for one in people)
    quality = (
        Column("Quality", "annotators.{0}.quality", "share"),
        Column("95% from", "annotators.{0}.quality_low", "share"),
        Column("95% to", "annotators.{0}.quality_high", "share"),
    )
    gold = (
        Column("Gold items", "annotators.{0}.gold", "count"),
        Column("of these right", "annotators.{0}.gold_right", "count"),
    )
    columns = (
        Column("Annotator", "annotators.{0}.name", "text"),
        *(quality if has_quality else ()),
        *(gold if has_gold else ()),
        *((Column("Shared items", "annotators.{0}.shared", "count"),) if has_shared else ()),
    )
    rows = [(n,) for n in range(len(people))] if has_quality else []
    return Table("quality", "How often they are right, in the same order", columns, rows)


def disputed_table(report: Report) -> Table:
    """The items on which votes differ the most; who gave which is not said."""
    inferred = (
        Column("Likeliest", "disputed.{0}.likeliest", "text"),
        Column("How sure", "disputed.{0}.sure", "share"),
    )
    columns = (
        Column("Item", "disputed.{0}.item", "text"),
        Column("Group", "disputed.{0}.group", "text"),
        Column("Votes", "disputed.{0}.votes", "votes"),
        *(inferred if any(one.sure is not None for one in report.disputed) else ()),
    )
    n = len(report.disputed)
    caption = f"The {n} most disputed items" if n > 1 else "The disputed item"
    return Table("disputed", caption, columns, [(at,) for at in range(n)])


def has_matrices(report: Report) -> bool:
    """Whether every annotator's confusion can be drawn."""
    found = report.confusions
    return found is not None and bool(found.classes) and len(found.of) <= MOST_MATRICES


def confusion_tables(report: Report) -> dict[str, Table]:
    """A table of each annotator's matrix, errors first; of many classes or people, of mistakes."""
    found = report.confusions
    if found is None or not found.of:
        return {}
    if not has_matrices(report):
        return {"mistakes": _mistakes(report)}
    k = len(found.classes)
    tables = {}
    for n, one in enumerate(found.of):
        cells = [(i, j) for i in range(k) for j in range(k)]
        cells.sort(key=lambda at, of=one.mean: (at[0] == at[1], -of[at[0]][at[1]]))  # type: ignore[misc]
        path = f"confusions.of.{n}"
        columns = (
            Column("True", "confusions.classes.{0}", "text"),
            Column("Vote", "confusions.classes.{1}", "text"),
            Column("Share", f"{path}.mean.{{0}}.{{1}}", "share"),
            Column("sd", f"{path}.sd.{{0}}.{{1}}", "share"),
        )
        name = f"votes-{n}"
        tables[name] = Table(name, f"What {one.annotator} says; errors first", columns, cells)
    return tables


def _mistakes(report: Report) -> Table:
    assert report.confusions is not None, "asked for where there are some"
    people = report.confusions.of
    most = max(1, min(max(len(one.mistakes) for one in people), _MOST_ROWS // len(people)))
    rows = [(n, at) for n, one in enumerate(people) for at in range(min(most, len(one.mistakes)))]
    columns = (
        Column("Annotator", "confusions.of.{0}.annotator", "text"),
        Column("says", "confusions.of.{0}.mistakes.{1}.given", "text"),
        Column("for", "confusions.of.{0}.mistakes.{1}.true", "text"),
        Column("Share", "confusions.of.{0}.mistakes.{1}.mean", "share"),
        Column("95% from", "confusions.of.{0}.mistakes.{1}.low", "share"),
        Column("95% to", "confusions.of.{0}.mistakes.{1}.high", "share"),
    )
    caption = "The most frequent mistakes of each annotator, as shares of the true class"
    return Table("mistakes", caption, columns, rows[:_MOST_ROWS])


def failures_table(report: Report) -> Table:
    """The wrong choices of a verdict, the commonest first."""
    columns = (
        Column("Choice", "failures.{0}.name", "text"),
        Column("Labelled", "failures.{0}.labelled", "count"),
        Column("Share", "failures.{0}.mean", "share"),
        Column("95% from", "failures.{0}.low", "share"),
        Column("95% to", "failures.{0}.high", "share"),
    )
    found = report.failures
    rows = [(n,) for n in sorted(range(len(found)), key=lambda n: -found[n].mean)]
    return Table("failures", "Kinds of failure, as shares of all outputs", columns, rows)


def judge_table(report: Report) -> Table:
    """TPR and TNR of the judge."""
    columns = (
        Column("Rate", "judge.{0}.name", "text"),
        Column("Share", "judge.{0}.mean", "share"),
        Column("95% from", "judge.{0}.low", "share"),
        Column("95% to", "judge.{0}.high", "share"),
    )
    return Table(
        "judge", "TPR and TNR of the judge", columns, [(n,) for n in range(len(report.judge))]
    )
