"""Try every number that is published: `python -m tests.calibration [--short] [--runs N] ...`.

Rows that fail are printed first, then the means; the page has them all. Bounds with 1 if anything
fails.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path

from tests.calibration.made import is_there
from tests.calibration.page import page, summed_up, text_of
from tests.calibration.rows import Row, over_pools
from tests.calibration.trying import LONG, SHORT, UNTIL, Job, every_job, sure_rows_of
from worker.simulate.spread import follow

FOLDER = Path(".assay") / "calibration"


def main() -> None:
    """Run all, print the rows that fail first, and write a page."""
    asked = _arguments()
    wanted = [
        job
        for job in (SHORT if asked.short else every_job(asked.runs, asked.until))
        if asked.ways in job.way and any(one in job.kind for one in asked.kinds.split(","))
    ]
    there = [job for job in wanted if is_there(job.kind)]
    FOLDER.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    began = time.monotonic()
    with (FOLDER / f"{asked.name}.jsonl").open("w", encoding="utf-8") as file:
        for job, found in _taken(there, asked.processes):
            rows += found
            file.writelines(json.dumps(asdict(row)) + "\n" for row in found)
            file.flush()
            failing = sum(row.fails for row in found)
            sys.stderr.write(
                f"{time.monotonic() - began:6.0f} s  {job.way} | {job.kind}: "
                f"{len(found)} rows, {failing} fail\n"
            )
    missing = [f"{job.way} | {job.kind}" for job in wanted if not is_there(job.kind)]
    rows += over_pools(rows)
    means = summed_up(rows)
    (FOLDER / f"{asked.name}.html").write_text(page(rows, means, missing), encoding="utf-8")
    sys.stdout.write(text_of(rows, means, missing, asked.all))
    sys.stdout.write(f"The page: {FOLDER / asked.name}.html\n")
    sys.exit(int(any(row.fails for row in rows) or any(mean.fails for mean in means)))


def _arguments() -> argparse.Namespace:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--short", action="store_true", help="the runs of .ci/run")
    arguments.add_argument("--runs", type=int, default=LONG, help="of every row")
    arguments.add_argument("--until", type=int, default=UNTIL, help="labels, unless it stops")
    arguments.add_argument("--ways", default="", help="only those whose name has this")
    arguments.add_argument("--kinds", default="", help="only those whose name has one of these")
    arguments.add_argument("--processes", type=int, default=1)
    arguments.add_argument("--all", action="store_true", help="print the rows that hold, too")
    arguments.add_argument("--name", default="calibration", help="of the page")
    return arguments.parse_args()


def _taken(jobs: list[Job], n_processes: int) -> Iterator[tuple[Job, list[Row]]]:
    if n_processes == 1:
        yield from ((job, sure_rows_of(job)) for job in jobs)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        n_processes, context, initializer=follow, initargs=(os.getpid(),)
    ) as pool:
        futures = {pool.submit(sure_rows_of, job): job for job in jobs}
        for done in as_completed(futures):
            yield futures[done], done.result()


if __name__ == "__main__":
    main()
