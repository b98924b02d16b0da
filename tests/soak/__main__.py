"""`make soak`: the fault run as a command; ends with 1 if anything was lost or counted twice."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import click

from tests.soak.faults import NOTHING
from tests.soak.run import Report, run


def table(report: Report) -> str:
    """The run as Markdown: faults by kind, what people did, what was lost."""
    lines = [
        "| fault | times | longest time until every running assessment was read again |",
        "|---|---|---|",
    ]
    for kind, times in sorted(report.recovery_s.items()):
        lines.append(f"| {kind} | {len(times)} | {max(times):.1f} s |")
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


def main() -> int:
    """Parse the arguments, run, print."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--broken", action="store_true", help="run Assay with blind increments; this must fail"
    )
    asked = parser.parse_args()
    module = "tests.soak.broken" if asked.broken else "worker.cli"

    def say(text: str) -> None:
        click.echo(text, err=True)

    with tempfile.TemporaryDirectory(prefix="assay-soak-") as folder:
        report = run(Path(folder), asked.minutes * 60, asked.seed, module, say)
        click.echo(table(report))
    return 0 if report.is_right else 1


if __name__ == "__main__":
    sys.exit(main())
