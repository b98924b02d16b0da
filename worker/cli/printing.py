"""Values -> text for a terminal."""

from __future__ import annotations

import io
import re
import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from connector.settings import project_page
from worker.assessment import assess
from worker.cli.doctor import Finding
from worker.cli.parts import coloured, printable
from worker.findings.annotating import waiting_text
from worker.findings.fates import given_up_text, left_out_text
from worker.formats import counted, share
from worker.plan import Plan
from worker.plan.explaining import README, Key
from worker.pool import Pool
from worker.report.status import Status
from worker.report.words import question_text
from worker.setup.opinions_told import strata_told, told_of
from worker.setup.replaying import Replay

WIDTH = 100
_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
# Longer tables help nobody in a terminal; --json has every group.
MOST_GROUPS = 25


def status_text(s: Status) -> str:
    """An assessment for people: the answer first."""
    lines = [*textwrap.wrap(s.text, WIDTH), *textwrap.wrap(s.ahead, WIDTH)]
    if s.review is not None:
        lines += textwrap.wrap(s.review["text"], WIDTH)
    lines.append("")
    lines.append(
        f"{s.header.assessment} is {s.status}: {counted(s.labels, 'label')} by "
        f"{counted(s.annotators, 'annotator')}, {counted(s.open_items, 'item')} before them now, "
        f"{s.claims:,} chosen in all (revision {s.revision})."
    )
    if s.waiting:
        lines.append(f"{waiting_text(s.waiting)}.")
    if s.continues is not None:
        lines += [line for text in s.continues["text"] for line in textwrap.wrap(text, WIDTH)]
    if s.opinions is not None:
        told = (s.opinions.text, *s.opinions.warnings)
        lines += [line for text in told for line in textwrap.wrap(text, WIDTH)]
    lines.append(f"Label Studio: {project_page(s.header.url, s.header.project)}")
    if s.retired:
        lines.append(f"Given up, and counted as unlabelled: {given_up_text(s.retired)}.")
    for annotation, why in sorted(s.rejected.items())[:10]:
        lines.append(f"Rejected: annotation {annotation} of {why['item']}: {why['reason']}.")
    if len(s.rejected) > 10:
        more = counted(len(s.rejected) - 10, "more rejected annotation")
        lines.append(f"... and {more} (see --json).")
    if s.labelling:
        lines += textwrap.wrap(s.labelling, WIDTH)
    if s.foreign_tasks:
        said = "is not ours and does" if s.foreign_tasks == 1 else "are not ours and do"
        lines.append(f"{counted(s.foreign_tasks, 'task')} of the project {said} not count.")
    if s.error:
        lines.append(f"The last turn failed: {s.error}")
    if s.report_error:
        lines.append(f"The last scheduled report failed: {s.report_error}")
    for notice in s.undelivered[-3:]:
        lines.append(f"Not delivered, and given up: {notice}.")
    tables = [_groups_table(s)] if s.groups else []
    if s.models is not None and s.models["differences"]:
        tables.append(_differences_table(s.models["differences"]))
    return "\n\n".join(["\n".join(lines), *tables])


def _groups_table(s: Status) -> str:
    table = Table(box=None, pad_edge=False)
    table.add_column("group")
    for title in (f"{s.words.item}s", "labelled", "right", s.words.name, "95% interval"):
        table.add_column(title, justify="right")
    shown = [g for g in s.groups if g["size"]]
    ordered = sorted(shown, key=lambda g: float(g["mean"]), reverse=s.which == "highest")
    for g in ordered[:MOST_GROUPS]:
        table.add_row(
            str(g["group"]),
            f"{g['size']:,}",
            f"{g['labelled']:,}",
            f"{g['right']:,}",
            f"{g['mean']:.3f}",
            f"{g['low']:.3f} to {g['high']:.3f}",
        )
    return _printed(table, len(shown) - MOST_GROUPS, "more group")


def _differences_table(differences: list[dict[str, Any]]) -> str:
    table = Table(box=None, pad_edge=False)
    table.add_column("first less second")
    for title in ("differ", "labelled", "mean", "95% interval"):
        table.add_column(title, justify="right")
    for title in ("P(first)", "P(equal)", "P(second)"):  # that it is the better one
        table.add_column(title, justify="right")
    for row in differences[:MOST_GROUPS]:
        table.add_row(
            f"{row['first']} − {row['second']}, {row['group']}",
            f"{row['disagreed']:,}",
            f"{row['labelled']:,}",
            f"{row['mean']:+.3f}",
            f"{row['low']:+.3f} to {row['high']:+.3f}",
            share(row["above"]),
            share(row["within"]),
            share(row["below"]),
        )
    return _printed(table, len(differences) - MOST_GROUPS, "more difference")


def _printed(table: Table, more: int, what: str) -> str:
    out = io.StringIO()
    Console(file=out, width=WIDTH, highlight=False, markup=False).print(table)
    return out.getvalue().rstrip() + (f"\n... and {counted(more, what)}" if more > 0 else "")


def pool_text(plan: Plan, pool: Pool) -> str:
    """What `check` found, with every default that follows from other keys."""
    n_groups = len(pool.group_names) - len(pool.empty_groups())
    work = assess(plan, pool) if plan.models is not None else None
    asked, stop = plan.question, plan.stop
    words = plan.words
    question = {
        "identify": f"which {'of them has' if asked.top == 1 else f'{asked.top} of them have'} the "
        f"{asked.which} {words.name}"
        + (f", by a list of {asked.shortlist}" if asked.shortlist is not None else ""),
        "compare": f"which pairs of them differ in {words.name}",
        "estimate": "the confusion matrix"
        if asked.metric == "confusion"
        else f"the {words.name} of each",
        "evaluate": f"the mean {words.name} between predictions and people's votes, by "
        f"{counted(plan.annotation.per_item, 'vote')} an item",
    }[asked.task]
    if work is not None:
        text = question_text(work).partition("?")[0]
        question = text[:1].lower() + text[1:]
    of_metric = {
        "bins": asked.bins,
        "costs": Path(asked.costs).name if asked.costs else None,
        "cost ratio": asked.cost_ratio,
        "positive": asked.positive if plan.annotation.verdict is None else None,
        "tolerance": asked.tolerance or None,
    }
    named = ", ".join(f"{key} {value}" for key, value in of_metric.items() if value is not None)
    whose = "score" if words.scored_by == "the classifier" else "judge's score"
    strata = f"{counted(plan.pool.strata, 'stratum', 'strata')} of the {whose}"
    if pool.opinions:
        strata = strata_told(plan, pool)
    elif plan.models is None and not plan.pool.has_scores:
        strata = "no scores"
    strength = "" if plan.prior.kind == "empirical" else f" of strength {plan.prior.strength:g}"
    claim = f"{stop.kind} {stop.target:g}" + (f" at {stop.confidence:g}" if stop.confidence else "")
    limits = [
        f"at least {counted(stop.min_per_group, 'label')} a group" if stop.min_per_group else "",
        f"confirmed at {stop.looks} looks" if stop.looks > 1 else "",
        f"budget {stop.budget}" if stop.budget is not None else "",
    ]
    limited = "".join(f", {text}" for text in limits if text)
    left_out = f" ({told})" if (told := left_out_text(pool.dropped)) else ""
    return (
        f"The plan of {plan.assessment} is fine: {counted(pool.n_items, words.item)}{left_out} in "
        f"{counted(n_groups, 'group')} ({_classes_text(plan, pool)}); "
        f"the question is {question}"
        f"{f' ({named})' if named else ''}.\n"
        f"Strategy {plan.strategy}, {plan.prior.kind} prior{strength}, {strata} "
        f"({counted(pool.n_cells, 'cell')}), {plan.population} population, seed {plan.seed}.\n"
        f"Stop rule {claim}{limited}, guarantee {stop.guarantee}. Pool {pool.hash[:12]}."
        + "".join(f"\nOpinion {told.text}." for told in told_of(plan, pool))
    )


def _classes_text(plan: Plan, pool: Pool) -> str:
    if (verdict := plan.annotation.verdict) is None:
        return counted(len(pool.classes), "class", "classes")
    return f"right: {', '.join(verdict.right)}; wrong: {', '.join(verdict.wrong)}"


_KINDS = {"problem": ("Problem:", "red"), "hint": ("Hint:", "yellow")}


def finding_text(finding: Finding) -> str:
    """One line of `doctor`, and its cure below."""
    line = printable(f"{finding.what}: {finding.seen}")
    if finding.kind == "ok":
        return f"ok {line}"
    word, colour = _KINDS[finding.kind]
    cure = textwrap.fill(
        printable(finding.cure), WIDTH, initial_indent="   -> ", subsequent_indent="      "
    )
    return f"{coloured(word, fg=colour, bold=True)} {line}\n{cure}"


def count_text(findings: Sequence[Finding]) -> str:
    """The last line of `doctor`."""
    n = Counter(finding.kind for finding in findings)
    return f"{counted(n['problem'], 'problem')}, {counted(n['hint'], 'hint')}."


def replay_text(result: Replay) -> str:
    """What `replay` found."""
    lines = [
        f"Read {counted(result.answers, 'annotation')} from Label Studio: "
        f"{counted(result.labels, 'label')}.",
        "The judgements of every item are the same."
        if not result.items_judged_otherwise
        else f"The judgements of {counted(len(result.items_judged_otherwise), 'item')} differ: "
        f"{', '.join(result.items_judged_otherwise[:5])}.",
        "The tally is the same."
        if not result.tally_differences
        else f"The tally differs in {counted(len(result.tally_differences), 'place')} (rebuilt, "
        "kept): "
        f"{dict(list(result.tally_differences.items())[:5])}",
        f"{counted(result.items_queued_twice, 'item was', 'items were')} queued twice.",
        f"Of {counted(result.choices, 'choice')} that "
        f"{'was' if result.choices == 1 else 'were'} made again, "
        f"{result.choices - len(result.choices_not_repeated):,} came out the same.",
    ]
    if result.choices_not_repeated:
        lines[-1] += " A release whose statistics differ chooses otherwise."
    if result.is_decision_repeated is not None:
        same = "the same" if result.is_decision_repeated else "ANOTHER ONE"
        lines.append(f"The decision made again is {same}.")
    return "\n".join(lines)


def key_text(key: Key) -> str:
    """A key of the plan with its meaning and default, as paragraphs."""
    meaning = _LINK.sub(r"\1", key.meaning).replace("see below", f"see {README}")
    said = [meaning, f"Default: {key.default}"] if key.default else [meaning]
    filled = "\n".join(textwrap.fill(text, WIDTH - 4) for text in said)
    return f"{key.name}\n{textwrap.indent(filled, '    ')}"
