"""`make soak`: the fault run as a command; ends with 1 if anything was lost or counted twice."""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

import click

from tests.soak.faults import NOTHING, is_kill_under_up
from tests.soak.run import Report, run


def table(report: Report) -> str:
    """The run as Markdown: faults by kind, what people did, what was lost."""
    lines = [
        "| fault | times | longest time until every running assessment was read again "
        "| a task that people asked for came after: median | longest |",
        "|---|---|---|---|---|",
    ]
    for kind, times in sorted(report.recovery_s.items()):
        lines.append(_row(kind, times, report.waits_s(kind)))
    kills = [kind for kind in report.recovery_s if is_kill_under_up(kind)]
    lines.append(
        _row(
            "all kills under `assay up`",
            [s for kind in kills for s in report.recovery_s[kind]],
            [s for kind in kills for s in report.waits_s(kind)],
        )
    )
    deeds = ", ".join(f"{n} {deed}" for deed, n in report.events.most_common())
    found = list(report.found.values())
    n_faults = sum(len(t) for kind, t in report.recovery_s.items() if kind != NOTHING)
    lines += [
        "",
        f"{n_faults} faults in {report.seconds:.0f} s; {report.restarts} restarts; "
        f"{report.webhooks} webhooks. What people did: {deeds}.",
        "",
        "| assessment | labels | lost | doubled | other outcome | queued twice | left open "
        "| decisions of one revision | replayed |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, one in report.found.items():
        lines.append(
            f"| {name} | {one.labels} | {one.losses} | {one.doubles} | {one.other_outcomes} "
            f"| {one.queued_twice} | {one.left_open} | {one.decisions_of_one_revision} "
            f"| {'yes' if one.is_replayed else 'NO'} |"
        )
    total = sum(one.losses for one in found), sum(one.doubles for one in found)
    lines += ["", f"Lost: {total[0]}. Counted twice: {total[1]}."]
    return "\n".join(lines)


def _row(kind: str, times_s: list[float], waits_s: list[float]) -> str:
    median, longest = (statistics.median(waits_s), max(waits_s)) if waits_s else (0.0, 0.0)
    return (
        f"| {kind} | {len(times_s)} | {max(times_s, default=0.0):.1f} s "
        f"| {median:.1f} s | {longest:.1f} s |"
    )


def main() -> int:
    """Parse the arguments, run, print."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--people", type=int, default=4)
    parser.add_argument("--think", type=float, default=0.0, help="seconds before an answer (mean)")
    parser.add_argument(
        "--broken", action="store_true", help="run Assay with blind increments; this must fail"
    )
    asked = parser.parse_args()
    module = "tests.soak.broken" if asked.broken else "worker.cli"

    def say(text: str) -> None:
        click.echo(text, err=True)

    with tempfile.TemporaryDirectory(prefix="assay-soak-") as folder:
        seconds, people = asked.minutes * 60, asked.people
        report = run(Path(folder), seconds, asked.seed, module, say, people, asked.think)
        click.echo(table(report))
    return 0 if report.is_right else 1


if __name__ == "__main__":
    sys.exit(main())
