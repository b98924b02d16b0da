"""Outputs of several models for the same prompts, compared in pairs."""

import json
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.fakes import FakeDesk
from tests.worker.answers import MODELS, SCHEMA, plan_of, write_pairs
from tests.worker.simulate.simulated_pool import header_of
from worker.assessment import Assessment, assess
from worker.core.posterior.summary import correlations, mean
from worker.errors import PredictionsError
from worker.findings.differences import differences_of
from worker.pool import compile_pool
from worker.pool.truth import read_truth
from worker.setup.replaying import replay
from worker.simulate.replay import labels
from worker.simulate.truths import outcomes
from worker.store import MemoryLedger
from worker.turn.loop import advance, assess_now

COMPARE = {"task": "compare", "compare": "all"}


def opened(folder: Path, paired: bool = True, **parts: Any) -> Assessment:
    pool = {"groups": "model", "score": None} | ({"pairs_by": "prompt"} if paired else {})
    plan = plan_of(folder, question=COMPARE, **({"pool": pool} | parts))
    return assess(plan, compile_pool(plan, folder / "pools"))


def labelled_live(work: Assessment, truth: dict[str, str], folder: Path, most: int = 500):
    """Let one annotator answer until the queue stays empty."""
    header, ledger, desk = (
        header_of(work.plan, work.pool),
        MemoryLedger("answers"),
        FakeDesk(SCHEMA),
    )
    ledger.begin(header)
    for turn in range(most):
        advance(work, header, ledger, desk, folder, f"turn-{turn}")
        task = desk.next_task(1)
        if task is None:
            break
        desk.annotate(task, truth[desk.data_of(task)["item_id"]], 1)
    return header, ledger, desk


def test_what_is_early_in_one_stratum_is_early_in_all_that_have_the_prompt(tmp_path):
    write_pairs(tmp_path)
    pool = opened(tmp_path).pool
    orders = [pool.code[list(pool.rows_of(cell))].tolist() for cell in range(pool.n_cells)]
    assert len(orders) == 2
    assert orders[0] == orders[1] != sorted(orders[0])


def test_of_models_that_fail_together_the_difference_is_known_with_fewer_labels(tmp_path):
    write_pairs(tmp_path)
    widths = []
    for paired in (True, False):
        work = opened(tmp_path, paired)
        outcome = outcomes(work, read_truth(work.plan, work.pool, "human"))
        belief = next(islice(labels(work, outcome), 119, None)).belief
        told = differences_of(work, belief, work.ask(belief, 1, work.rule))
        assert told is not None
        widths.append(told.of[0].high - told.of[0].low)
    assert widths[0] < 0.7 * widths[1]


def test_beside_a_judge_outputs_of_a_prompt_are_pairs_in_whatever_strata_they_lie(tmp_path):
    write_pairs(tmp_path)
    rng, file = np.random.default_rng(7), tmp_path / "answers.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    for row in rows:
        is_called_right = (row["human"] == "Correct") == (rng.random() < 0.8)
        row["judge_p"] = float(rng.beta(8, 2) if is_called_right else rng.beta(2, 8))
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    pool = {"groups": "model", "pairs_by": "prompt", "score": "judge_p"}
    work = opened(tmp_path, pool=pool)
    assert work.pool.is_judged
    outcome = outcomes(work, read_truth(work.plan, work.pool, "human"))
    told = list(labels(work, outcome))
    assert correlations(told[119].belief, [(0, 1)]) > 0.3
    rates = [np.mean([r["human"] == "Correct" for r in rows if r["model"] == m]) for m in MODELS]
    assert sorted(mean(told[-1].belief)) == pytest.approx(sorted(rates))


def test_live_and_simulated_choices_are_the_same_and_a_replay_finds_what_was_found(tmp_path):
    truth = write_pairs(tmp_path, alike=0.6)
    more = {"queue": {"look_ahead": 1}, "stop": {"rope": {"confidence": 0.9999}, "budget": 80}}
    work = opened(tmp_path, **more)
    _, ledger, desk = labelled_live(work, truth, tmp_path / "decisions")
    assert replay(work, ledger, desk).is_equal
    outcome = outcomes(work, read_truth(work.plan, work.pool, "human"))
    live = [choice["row"] for choice in ledger.choices()]
    told = list(islice(labels(work, outcome), len(live)))
    assert live == [one.row for one in told]
    rho = correlations(assess_now(work, ledger)[1], [(0, 1)])
    assert rho == pytest.approx(correlations(told[-1].belief, [(0, 1)]), abs=1e-9)
    decision = json.loads(ledger.decisions()[-1])
    assert decision["labels"] == 80
    assert "failures" not in decision


def test_an_edited_verdict_changes_the_pair_that_it_is_of(tmp_path):
    """The same counts, of other pairs: right with wrong where both were alike."""
    truth = write_pairs(tmp_path)
    work = opened(tmp_path, stop={"budget": 60})
    _, ledger, _ = labelled_live(work, truth, tmp_path / "decisions")
    tally = ledger.state().tally
    before = work.believe(tally)
    cell = {key: key.split(":", 1)[1] for key in tally}
    right, wrong = (
        next(k for k, of in cell.items() if of.startswith("0:") and of.endswith(label))
        for label in ("Correct", "Wrong")
    )
    turned = {k: n for k, n in tally.items() if k not in (right, wrong)}
    turned |= {right.replace("Correct", "Wrong"): 1, wrong.replace("Wrong", "Correct"): 1}
    after = work.believe(turned)
    assert (after.right == before.right).all()
    assert correlations(after, [(0, 1)]) < correlations(before, [(0, 1)])
    assert correlations(work.believe(tally), [(0, 1)]) == correlations(before, [(0, 1)])


def test_once_all_is_labelled_nothing_is_uncertain(tmp_path):
    truth = write_pairs(tmp_path, n=40, alike=0.5)
    work = opened(tmp_path)
    outcome = outcomes(work, read_truth(work.plan, work.pool, "human"))
    *_, last = labels(work, outcome)
    rate = [np.mean([v == "Correct" for k, v in truth.items() if m in k]) for m in sorted(MODELS)]
    assert mean(last.belief) == pytest.approx(rate)
    (pair,) = work.ask(last.belief, 0, work.rule).pairs
    assert pair.confidence == pytest.approx(1)


def _row(model: str, i: int) -> dict[str, Any]:
    own = {"item_id": f"again-{model}-{i}", "prompt": f"Question {i}?", "output": "Another one."}
    return own | {"model": model, "judge_p": 0.5, "topic": f"t{i % 3}", "human": "Wrong"}


def test_a_prompt_that_one_model_answers_twice_is_refused_with_its_row(tmp_path):
    write_pairs(tmp_path, n=20, more=(_row("small", 7),))
    with pytest.raises(PredictionsError, match=r"2 rows are of a prompt .* twice, the first in"):
        opened(tmp_path)
    with pytest.raises(PredictionsError, match="group by the column that names the model"):
        opened(tmp_path, pool={"groups": "topic", "pairs_by": "prompt", "score": None})


def test_prompts_that_one_model_alone_answers_are_no_pairs(tmp_path):
    write_pairs(tmp_path, n=20)
    lines = (tmp_path / "answers.jsonl").read_text().splitlines()
    alone = [line for line in lines if json.loads(line)["model"] == "small"]
    (tmp_path / "answers.jsonl").write_text("\n".join(alone))
    with pytest.raises(PredictionsError, match="no two outputs answer the same prompt"):
        opened(tmp_path, pool={"groups": "topic", "pairs_by": "prompt", "score": None})


def test_a_prompt_that_only_one_of_the_models_answers_counts_for_that_model(tmp_path):
    write_pairs(tmp_path, n=20, more=(_row("small", 100),))
    work = opened(tmp_path)
    assert work.pool.group_size.tolist() == [20, 21]
    assert work.pool.n_prompts == 21
