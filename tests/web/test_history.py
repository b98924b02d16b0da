"""What charts show of the time before now is what a report says, and is worked out once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.report.at_work import AtWork, at_work
from tests.report.crowds import INFERRED, Crowd, crowd
from tests.web.site import Begun
from tests.worker.assessment.evaluated import Evaluated, evaluated
from worker.assessment import Assessment
from worker.assessment.outcomes import n_labelled
from worker.core.stopping.schedule import epoch, stage
from worker.findings.evidence import groups
from worker.report.contents_progress import Point
from worker.report.gathering import gather
from worker.report.people import label_times
from worker.store.records import load
from worker.web import history
from worker.web.history import History

SAID = ("cat", "dog", "cow", "cat")


def labelled(begun: Begun, n: int) -> Begun:
    for k in range(n):
        begun.label(SAID[k % 4])
    return begun


def follow(begun: Begun | AtWork | Crowd | Evaluated, known: History) -> History:
    """Look until nothing is missing."""
    for _ in range(100):
        before = known.steps
        known.follow(begun.work, begun.ledger, begun.ledger.state())
        if known.steps == before:
            return known
    raise AssertionError("it never ends")


def reached(begun: Begun, known: History) -> list[tuple[int, float | None]]:
    points = known.points(n_labelled(begun.ledger.state().tally))
    return [(point.labels, point.reached) for point in points]


def told(begun: Begun) -> list[tuple[int, float | None]]:
    """By a report, without its last point, which is now."""
    report = gather(begun.work, begun.header, begun.ledger)
    return [(point.labels, point.reached) for point in report.progress][:-1]


def test_the_way_is_that_of_a_report(begun: Begun) -> None:
    labelled(begun, 30)
    assert reached(begun, follow(begun, History())) == told(begun)
    assert len(told(begun)) > 3


def compared(folder: Path) -> AtWork:
    return at_work(
        folder, 30, question="{task: compare, compare: all}", stop="{rope: {epsilon: 0.01}}"
    )


def confused(folder: Path) -> AtWork:
    question = "{task: estimate, metric: confusion}"
    return at_work(folder, 30, question=question, stop="{rmse: 0.0001}")


def voted(folder: Path) -> Crowd:
    one = crowd(folder, INFERRED)
    one.label((0.9, 0.8, 0.7), 4)
    return one


def measured(folder: Path) -> Evaluated:
    one = evaluated(folder, "stop: {width: 0.001}\n")
    one.vote(4)
    return one


@pytest.mark.parametrize("begin", [compared, confused, voted, measured])
def test_the_way_is_that_of_a_report_whatever_is_asked(
    tmp_path: Path, begin: Callable[[Path], AtWork | Crowd | Evaluated]
) -> None:
    one = begin(tmp_path)
    report = gather(one.work, one.header, one.ledger)
    told = [(point.labels, point.reached) for point in report.progress[:-1]]
    points = follow(one, History()).points(report.labels)
    assert [(point.labels, point.reached) for point in points] == told
    assert told


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The stages that are worked out."""
    stages: list[int] = []
    point_at = history.point_at

    def counted(work: Assessment, tally: Mapping[str, int], stage: int) -> Point | None:
        stages.append(stage)
        return point_at(work, tally, stage)

    monkeypatch.setattr(history, "point_at", counted)
    return stages


def test_what_later_labels_leave_as_it_was_is_not_worked_out_again(
    begun: Begun, asked: list[int]
) -> None:
    known = follow(labelled(begun, 30), History())
    assert len(asked) == len(set(asked)) > 3
    asked.clear()
    for _ in range(3):
        follow(labelled(begun, 1), known)
    assert len(asked) <= 1  # a new point of the schedule
    assert reached(begun, known) == told(begun)


def test_a_label_that_is_corrected_has_worked_out_again_what_rests_on_it(
    begun: Begun, asked: list[int]
) -> None:
    known = follow(labelled(begun, 30), History())
    asked.clear()
    records = [load(text) for text in begun.ledger.every_record()]
    one = next(record for record in records if epoch(record.claim) == 1 and record.outcome)
    begun.desk.edit(one.judgements()[0].annotation, "dog" if one.outcome == "cow" else "cow")
    begun.turn()
    follow(begun, known)
    assert min(asked) == 2  # the point before rests on earlier claims
    assert reached(begun, known) == told(begun)


def test_a_look_works_out_one_point_more_when_its_time_is_over(
    begun: Begun, asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    labelled(begun, 30)
    monkeypatch.setattr(history, "LOOK_S", 0.0)
    known = History()
    for n in range(1, 4):
        known.follow(begun.work, begun.ledger, begun.ledger.state())
        assert len(asked) == n
    assert follow(begun, known).points(1000)[-1].labels > 20


def test_labels_an_hour_are_those_that_count(begun: Begun) -> None:
    known = History()
    for k in range(9):
        begun.desk.now_us += history.HOUR_US // 2  # its clock is ahead of ours
        labelled(begun, 1)
        if k == 4:
            follow(begun, known)
    records = [load(text) for text in begun.ledger.every_record()]
    gone = next(record for record in records if record.outcome)
    begun.desk.delete_annotation(gone.judgements()[0].annotation)
    begun.turn()
    follow(begun, known)
    records = [load(text) for text in begun.ledger.every_record()]
    times = Counter(at_us // history.HOUR_US for at_us in label_times(records))
    assert sum(times.values()) == 8
    now = max(times)
    in_hours = [times[now - ago] for ago in reversed(range(history.HOURS))]
    assert known.per_hour(3600 * now + 1799) == in_hours
    assert sum(known.per_hour(3600 * now + 2 * 86_400)) == 0


def test_the_intervals_of_then_are_those_at_half_of_the_labels(begun: Begun) -> None:
    assert follow(labelled(begun, 15), History()).then is None
    then = follow(labelled(begun, 15), History()).then
    assert then is not None
    belief = begun.work.believed_at(begun.ledger.state().tally, stage(15))
    rows = groups(begun.work, belief)
    assert then.ends == {row["group"]: (row["low"], row["high"]) for row in rows}
    assert then.labels == sum(row["labelled"] for row in rows) <= 15
