"""One way on one kind of pool, tried: how often, to how many labels, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.calibration import judged, sampled
from tests.calibration.rows import Row, row_of
from tests.calibration.running import gathered, opened, run
from tests.calibration.ways import WAYS

AT, UNTIL, LONG = (20, 80, 320, 1280), 600, 24  # the last count with `--until 1280`
_MOST_OF_A_POOL = 0.7  # labels, beyond which hardly anything is uncertain any more
LEVELS = (0.8, 0.9, 0.95, 0.99)
_TIMES = 5  # as many runs where a row fails


@dataclass(frozen=True, slots=True)
class Job:
    """A way on a kind of pool, by their names. at, until: as of `running.run`."""

    way: str
    kind: str
    runs: int
    at: tuple[int, ...]
    until: int


def rows_of(job: Job) -> list[Row]:
    """All rows of a job; claims of every level only where it is asked for them, (a) and (g).

    A claim of one truth is more often wrong if it comes early: a real pool's runs are followed to
    where they stop. (Over truths from the model a claim is as sure whenever it comes.)
    """
    if job.way == judged.WAY:
        found = gathered([judged.run(job.kind, n, job.at) for n in range(job.runs)])
        return [row_of(job.way, job.kind, *key, of) for key, of in found.items()]
    way = next(way for way in (*WAYS, *sampled.WAYS) if way.name == job.way)
    with opened(way, job.kind) as case:
        assert case is not None, "asked of pools that are there"
        work = case.work
        levels: tuple[float, ...] = (0.95,)
        if job.kind[0] in "ag" and work.confidence_sequence is None:
            levels = LEVELS
        if work.rule.confidence is None:
            levels = (0.95,)
        most = min(job.until, _MOST_OF_A_POOL * work.n_helpful(work.pool.cell_size))
        at = tuple(n for n in job.at if n <= most) or job.at[:1]
        if way in sampled.WAYS:
            found = gathered([sampled.run(case, n, at) for n in range(job.runs)])
            return [row_of(job.way, job.kind, *key, of) for key, of in found.items()]
        is_claimed = work.rule.confidence is not None or work.confidence_sequence is not None
        until = work.pool.n_items if job.kind[0] == "g" and is_claimed else job.until
        found = gathered([run(case, n, at, until, levels) for n in range(job.runs)])
    return [row_of(job.way, job.kind, *key, of) for key, of in found.items()]


def sure_rows_of(job: Job) -> list[Row]:
    """As `rows_of`; where any row fails, of more runs: of thousands some do so by chance."""
    rows = rows_of(job)
    if any(row.fails for row in rows):
        rows = rows_of(replace(job, runs=_TIMES * job.runs))
    return rows


def every_job(runs: int = LONG, until: int = UNTIL) -> list[Job]:
    """All ways on all their kinds of pools."""
    ways = (*WAYS, *sampled.WAYS)
    plain = [Job(way.name, kind, runs, AT, until) for way in ways for kind in way.kinds]
    votes = [Job(judged.WAY, kind, runs, (20, 60, 200), 200) for kind in judged.KINDS]
    return plain + votes


def _job(way: str, kind: str, runs: int = 8, at: tuple[int, ...] = (20, 60)) -> Job:
    return Job(way, kind, runs, at, at[-1])


# Some of every task and metric: what is grossly wrong is seen after some runs.
SHORT = [
    _job("identify", "a model", 10),
    _job("identify", "b one rate"),
    _job("identify", "d overconfident"),
    _job("identify", "f one-sided"),
    _job("identify, 40 groups", "a model"),
    _job("identify, infinite", "b one rate"),
    _job("identify, no scores", "e near ties"),
    _job("identify, any time", "d overconfident", 5),
    _job("estimate", "c calibrated"),
    _job("compare", "e near ties"),
    _job("compare in pairs", "k hard prompts", 5),
    _job("identify bias", "d underconfident"),
    _job("ECE of the pool", "c calibrated"),
    _job("ECE of classes", "d overconfident", 4),
    _job("cost", "d overconfident", 5),
    _job("confusion", "b one rate", 5),
    _job("recall of sites", "d overconfident", 4),
    _job("evaluate", "d people differ", 16),
    _job("parents", "b sites", 5),
    _job("which model", "b ten points in a hundred"),
    _job("which model, no scores", "e near the rope"),
    _job("worst of each model", "b ten points in a hundred", 5),
    _job("random sample, identify", "d overconfident"),
    _job("random sample, estimate", "f one-sided"),
]
