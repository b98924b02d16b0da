"""Votes in doubt as the service sees them: beliefs, gold items, the queue of several people."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.promises.small import CLASSES, N_ITEMS, small_assessment
from worker.assessment import Assessment
from worker.assessment.queueing import answered_enough, n_missing, pending_cells, unclaimed_cells
from worker.core.posterior.belief import group_labelled
from worker.core.posterior.intervals import interval
from worker.core.posterior.summary import mean
from worker.core.stopping.schedule import POINTS
from worker.errors import AssayError
from worker.store import State, Unsettled
from worker.store.tally import tally_key
from worker.turn.refill import choose

GOLD = "item_id,text,label\n" + "".join(
    f"gold-{n},the picture of gold-{n},{CLASSES[n % 3]}\n" for n in range(4)
)
CROWD = "{per_item: 3, rule: dawid-skene, item_confidence: 0.9, gold: {items: gold.csv, rate: 0.5}}"


def assessment(folder: Path, annotation: str, gold: str = GOLD) -> Assessment:
    (folder / "gold.csv").write_text(gold, encoding="utf-8")
    stop = "{mrr: {confidence: 0.9999}}"
    return small_assessment(folder, stop, f"annotation: {annotation}\n")[0]


def state(work: Assessment, *unsettled: Unsettled, **more: object) -> State:
    plain = State(
        status="running",
        revision=0,
        claims=len(unsettled),
        tally={},
        taken={},
        unsettled={u.item: u for u in unsettled},
        authors={"1": 0},
        n_rejected=0,
    )
    return dataclasses.replace(plain, **more)


def item(number: int, asked: Sequence[int] = (), **more: object) -> Unsettled:
    plain = Unsettled(
        f"item-{number}", 0, number, number, "open", (number,), (number,), tuple(asked), 0, None
    )
    return dataclasses.replace(plain, **more)


def votes(**said: str) -> str:
    return json.dumps({who.removeprefix("w"): label for who, label in said.items()})


class TestBelief:
    """Votes to numbers."""

    def test_a_tie_counts_half_for_each_class(self, tmp_path: Path) -> None:
        work = assessment(tmp_path, "{per_item: 2, per_item_max: 2, rule: majority}")
        cell = int(np.flatnonzero(work.pool.cell_group == 0)[0])
        late = POINTS[0]  # a claim that no prior is fitted to, so that it is the same for all three
        tied = work.believe({tally_key(late, cell, 0, "cat\ndog"): 1})
        right = work.believe({tally_key(late, cell, 0, "cat"): 1})
        wrong = work.believe({tally_key(late, cell, 0, "dog"): 1})

        assert len(tied.variants) > 1
        half = (mean(right)[0] + mean(wrong)[0]) / 2
        weight = np.mean([v.right[cell] for v in tied.variants])
        assert weight == pytest.approx(0.5, abs=0.15)  # 128 tosses
        assert mean(tied)[0] == pytest.approx(
            weight * mean(right)[0] + (1 - weight) * mean(wrong)[0]
        )
        assert abs(mean(tied)[0] - half) < 0.05

    def test_the_belief_depends_on_the_votes_alone(self, tmp_path: Path) -> None:
        work = assessment(tmp_path, CROWD)
        (tmp_path / "again").mkdir()
        again = assessment(tmp_path / "again", CROWD)
        said = [votes(w1="cat", w2="dog"), votes(w1="cat"), votes(w2="cow", w3="cow")]
        keys = [tally_key(n, n % work.pool.n_cells, 0, text) for n, text in enumerate(said)]
        one = work.believe(dict.fromkeys(keys, 1))
        for order in (keys, keys[::-1]):
            other = again.believe(dict.fromkeys(order, 1))
            np.testing.assert_array_equal(mean(one), mean(other))
            np.testing.assert_array_equal(interval(one), interval(other))

    def test_contradicting_votes_leave_more_doubt_than_agreeing_ones(self, tmp_path: Path) -> None:
        work = assessment(tmp_path, CROWD)
        cell = int(np.flatnonzero(work.pool.cell_group == 0)[0])
        others = {
            tally_key(n, int(c), int(g), votes(w1=CLASSES[g], w2=CLASSES[g], w3=CLASSES[g])): 1
            for n, (c, g) in enumerate(enumerate(work.pool.cell_group))
            if c != cell
        }
        agreed = work.believe(others | {tally_key(90, cell, 0, votes(w1="cat", w2="cat")): 1})
        split = work.believe(others | {tally_key(90, cell, 0, votes(w1="cat", w2="dog")): 1})
        assert mean(split)[0] < mean(agreed)[0]

    def test_gold_items_tell_of_the_annotators_only(self, tmp_path: Path) -> None:
        work = assessment(tmp_path, CROWD)
        cell = int(np.flatnonzero(work.pool.cell_group == 0)[0])
        own = {tally_key(0, cell, 0, votes(w1="dog")): 1}
        good = {tally_key(n, -1, n % 3, votes(w1=CLASSES[n % 3])): 1 for n in range(1, 30)}
        bad = {tally_key(n, -1, n % 3, votes(w1=CLASSES[(n + 1) % 3])): 1 for n in range(1, 30)}
        trusted, doubted = work.believe(own | good), work.believe(own | bad)

        assert group_labelled(trusted).tolist() == group_labelled(doubted).tolist() == [1, 0, 0]
        assert mean(trusted)[0] < mean(doubted)[0]  # "dog" of a good annotator is believed


class TestGold:
    """Items whose class is known."""

    def test_they_follow_the_pool_in_a_seeded_order_and_show_their_data_only(
        self, tmp_path: Path
    ) -> None:
        pool = assessment(tmp_path, CROWD).pool
        assert pool.n_items == N_ITEMS
        shown = [pool.item(N_ITEMS + n) for n in range(4)]
        assert sorted(i.item_id for i in shown) == ["gold-0", "gold-1", "gold-2", "gold-3"]
        for one in shown:
            assert (one.cell, one.group) == (-1, -1)
            assert one.data == {"text": f"the picture of {one.item_id}"}
            assert one.predicted == int(one.item_id[-1]) % 3
        assert pool.find(["gold-2", "item-01", "no"]).keys() == {"gold-2", "item-01"}
        with pytest.raises(IndexError):
            pool.item(N_ITEMS + 4)

    def test_about_the_asked_share_of_claims_is_gold_until_there_is_none_left(
        self, tmp_path: Path
    ) -> None:
        work = assessment(tmp_path, CROWD)
        due = [work.is_gold_due(n) for n in range(1000)]
        assert sum(due) == pytest.approx(500, abs=60)
        now = state(work, taken={-1: 3}, claims=4)
        people = {str(n): 0 for n in range(4)}
        claims = choose(work, work.first, dataclasses.replace(now, authors=people))
        gold = [claim for claim in claims if claim.cell == -1]
        assert len(gold) == 1
        assert gold[0].why["strategy"] == "gold"
        assert gold[0].item == work.pool.gold[3].item_id
        assert len(claims) == 4

    @pytest.mark.parametrize(
        ("gold", "told"),
        [
            ("item_id,text,label\nitem-03,a picture,cat\n", "among the predictions"),
            ("item_id,text,label\ng,a picture,zebra\n", "not among the classes"),
            ("item_id,text,label\ng,a picture,\n", "row 1"),
            ("item_id,text,label\n", "no rows"),
            (
                "item_id,text\ng,a picture\n",
                "item_id and text, and their class in the column label",
            ),
            ("item_id,text,label\ng,a,cat\ng,b,cat\n", "g"),
        ],
    )
    def test_a_bad_file_is_refused(self, tmp_path: Path, gold: str, told: str) -> None:
        with pytest.raises(AssayError, match=told):
            assessment(tmp_path, CROWD, gold)


class TestQueue:
    """Each person has a queue of their own."""

    @pytest.fixture
    def work(self, tmp_path: Path) -> Assessment:
        return assessment(tmp_path, CROWD.replace("0.9,", "0.98,"))

    def missing(self, work: Assessment, people: int, *unsettled: Unsettled) -> int:
        authors = {str(n): 0 for n in range(1, people + 1)}
        return n_missing(work, state(work, *unsettled, authors=authors), frozenset())

    def test_a_lone_annotator_gets_new_items_however_many_wait_for_others(
        self, work: Assessment
    ) -> None:
        done = [item(n, asked=[1]) for n in range(20)]
        assert self.missing(work, 1, *done) == 3
        assert self.missing(work, 1, *done, item(20), item(21)) == 1

    def test_three_people_share_the_votes_of_an_item(self, work: Assessment) -> None:
        assert self.missing(work, 3) == 3
        assert self.missing(work, 3, *[item(n) for n in range(3)]) == 0

    def test_four_people_need_an_item_more_than_three(self, work: Assessment) -> None:
        assert self.missing(work, 4) == 4  # 12 votes wanted, 3 an item

    def test_whoever_answered_everything_gets_more(self, work: Assessment) -> None:
        waiting = [item(n, asked=[1]) for n in range(3)]
        assert self.missing(work, 2, *waiting) == 3

    def test_items_that_are_sure_enough_are_not_asked_again(self, tmp_path: Path) -> None:
        work = assessment(tmp_path, CROWD)
        cells = work.pool.cell_group
        tally = {
            tally_key(n, c, int(g), votes(w1=CLASSES[g], w2=CLASSES[g])): 1
            for n, (c, g) in enumerate(enumerate(cells))
        }
        said = votes(w1="cat", w2="cat")
        sure = item(0, asked=[1, 2], cell=0, predicted=0, outcome=said)
        open_one = item(1, asked=[1], cell=1, predicted=int(cells[1]), outcome=votes(w1="dog"))
        tally |= {
            tally_key(u.claim, u.cell, u.predicted, str(u.outcome)): 1 for u in (sure, open_one)
        }
        now = state(work, sure, open_one, tally=tally)
        assert answered_enough(work, now) == {"item-0"}

    def test_items_with_a_vote_are_counted_and_gold_items_are_in_no_cell(
        self, work: Assessment
    ) -> None:
        now = state(
            work,
            item(0, cell=1),
            item(1, cell=1, asked=[1], outcome=votes(w1="cat")),
            item(2, cell=-1),
            taken={1: 2, -1: 1},
        )
        assert pending_cells(work, now)[1] == pending_cells(work, now).sum() == 1
        assert unclaimed_cells(work, now).sum() == N_ITEMS - 2
