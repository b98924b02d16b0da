"""What is thrown at everything that reads what others wrote, and what must hold whatever comes.

A target takes bytes, so that hypothesis, atheris and the kept seeds share it. It returns normally
or raises an AssertionError; every exception that gets out of it is a finding.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from connector.errors import ConnectorError
from connector.labels import Judgement, TaskSnapshot, judge
from connector.ratings import Bins
from connector.schema import Schema
from connector.webhook import receiver
from tests.contract.ledgers import RULES, claims_of, header_of
from tests.fuzz import stored
from tests.fuzz.bounds import bounded, is_told
from worker.errors import AssayError, PlanError
from worker.plan import Plan, load_plan, plan_hash
from worker.plan.model import stored_plan
from worker.pool import compile_pool, open_pool
from worker.store import MemoryLedger
from worker.store.records import load
from worker.turn.sync import record

LABELS = ("cat", "dog", "1")
CHOICES = Schema("answer", "text", LABELS)
RATING = Schema("answer", "text", ("1", "2", "3"), Bins((1.0, 2.0, 3.0, 4.0), is_whole=True))
NUMBER = Schema("answer", "text", ("low", "high"), Bins((0.0, 0.5, 1.0), is_whole=False))
WAKING = {
    *("ANNOTATION_CREATED", "ANNOTATIONS_CREATED", "ANNOTATION_UPDATED", "ANNOTATIONS_DELETED"),
    *("TASKS_CREATED", "TASKS_DELETED"),
}


def annotation(data: bytes) -> None:
    """An annotation as Label Studio's JSON has it: judged, recorded, and counted only if valid."""
    try:
        sent = json.loads(data)
    except (ValueError, RecursionError):
        return  # no client gets this far
    if isinstance(sent, dict):
        for schema in (CHOICES, RATING, NUMBER):
            _annotation(sent, schema)


def _annotation(sent: Mapping[str, Any], schema: Schema) -> None:
    try:
        said = judge(sent, schema)
    except ConnectorError as error:
        is_told(error)
        return
    assert (said.status == "valid") == (_plainly(sent, schema) is not None)
    assert said.label == _plainly(sent, schema)
    assert said.reason or said.status != "rejected"
    ledger = MemoryLedger("fuzz")
    ledger.begin(header_of("fuzz"))
    ledger.claim(0, claims_of(["item"]))
    for reading in (1, 2):
        record(ledger, [TaskSnapshot(1, "item", 5, False, (said,))], reading, RULES)
        (text,) = ledger.every_record()
        text.encode()
        assert load(text).judgements() == (said,), "it does not come back as it was kept"
        assert load(text).tasks[0][1].reading == 1, "the same snapshot again changed something"
        key = f"0:0:0:{said.label}"
        assert dict(ledger.state().tally) == ({key: 1} if said.status == "valid" else {})
    assert set(ledger.rejected()) == ({said.annotation} if said.status == "rejected" else set())


def _plainly(sent: Mapping[str, Any], schema: Schema) -> str | None:
    """The class that an annotation names, by the letter of the format; None if it names none."""
    author = sent.get("completed_by")
    author = author.get("id") if isinstance(author, dict) else author
    result = sent.get("result")
    if sent.get("was_cancelled") or type(author) is not int or not isinstance(result, list):
        return None
    answers = [r for r in result if isinstance(r, dict) and r.get("from_name") == "answer"]
    value = answers[0].get("value") if len(answers) == 1 else None
    if not isinstance(value, dict):
        return None
    if schema.bins is None:
        labels = value.get("choices")
        is_one = isinstance(labels, list) and len(labels) == 1 and isinstance(labels[0], str)
        return labels[0] if is_one and labels[0] in schema.labels else None
    numbers = [value[key] for key in ("rating", "number") if key in value]
    if len(numbers) != 1 or type(numbers[0]) not in (int, float):
        return None
    (number,) = numbers
    if schema is RATING:
        return str(int(number)) if number in (1, 2, 3) else None
    return ("low" if number < 0.5 else "high") if 0 <= number <= 1 else None


def webhook(data: bytes) -> None:
    """A request to the receiver: the first line is the path's end, the rest the body."""
    name, _, body = data.partition(b"\n")
    woken: list[str] = []

    def wake(assessment: str) -> bool:
        woken.append(assessment)
        return assessment == "digits"

    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(receiver("a-secret", wake))
        async with httpx.AsyncClient(transport=transport, base_url="http://receiver") as client:
            headers = {"X-Assay-Secret": "a-secret"}
            return await client.post(f"/hook/{quote(name)}", content=body, headers=headers)

    answer = asyncio.run(send())
    if answer.status_code in (200, 400, 413):
        assert isinstance(answer.json(), dict)
    else:  # no such assessment, or no such path: with a slash more it is sent to the one without
        assert answer.status_code in (404, 307), answer.status_code
    try:
        sent = json.loads(body)
    except (ValueError, RecursionError):
        sent = None
    action = sent.get("action") if isinstance(sent, dict) else None
    is_name = b"/" not in name and name not in (b"", b".", b"..")  # dots are steps in a path
    is_waking = isinstance(action, str) and action in WAKING and is_name
    assert len(woken) <= int(is_waking)
    assert bool(woken) or not is_waking or answer.status_code in (400, 413)
    assert len(answer.content) < 2_000 + 12 * len(name)


def plan(data: bytes) -> None:
    """A plan file: read, or refused with all its mistakes in a message of sensible length."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.yaml"
        path.write_bytes(data)
        for for_simulation in (False, True):
            try:
                read = load_plan(path, for_simulation)
            except PlanError as error:
                is_told(error)
                continue
            assert stored_plan(read.model_dump_json()) == read
            assert len(plan_hash(read)) == 64
            assert all(text.encode() for text in read.warnings())


CLASSES = ("cat", "dog", "cow")
_PROBABILITIES = {"probabilities": [f"p_{name}" for name in CLASSES]}
_SAID = {"predicted": "predicted", "score": "score"}
_POOLS: tuple[dict[str, Any], ...] = (
    _PROBABILITIES,
    {"probabilities": "probs", "classes": CLASSES, "strata": 2},
    {**_SAID, "groups": "region"},
    {**_SAID, "classes": CLASSES, "groups": ["predicted_class", "score_bin(3)"]},
    {"predicted": "predicted", "classes": CLASSES},
    {**_PROBABILITIES, "groups": ["region", "equal_mass_bin(2)"], "strata": 3},
    {
        **_PROBABILITIES,
        "strata": 4,
        "opinions": [
            {"name": "other", "predicted": "predicted", "score": "score"},
            {"name": "ensemble", "probabilities": "probs"},
            {"name": "where", "category": "region"},
        ],
    },
)
ENDINGS = ("csv", "jsonl", "parquet", "tsv", "csv.gz", "jsonl.gz")


def predictions(data: bytes) -> None:
    """A predictions file: the first byte says of which kind, and for which plan."""
    head, body = data[:1] or b"\0", data[1:]
    ending = ENDINGS[head[0] % len(ENDINGS)]
    pool_part = _POOLS[head[0] // len(ENDINGS) % len(_POOLS)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"predictions.{ending}"
        path.write_bytes(gzip.compress(body, 1) if ending.endswith("gz") else body)
        asked = Plan.model_validate(
            {
                "assessment": "fuzz",
                "pool": {"predictions": str(path), "data": {"text": "text"}, **pool_part},
                "question": {"task": "estimate"},
                "prior": {"kind": "empirical" if "opinions" in pool_part else "uniform"},
            }
        )
        try:
            compiled = compile_pool(asked, Path(folder) / "pools")
        except AssayError as error:
            is_told(error)
            return
        _check_pool(compiled)
        again = open_pool(compiled.path, compiled.file_sha256)
        assert again.item_ids.equals(compiled.item_ids)
        if ending.startswith("jsonl"):
            _check_rows(compiled, body, pool_part)


def _check_pool(pool: Any) -> None:
    ids = pool.item_ids.to_pylist()
    assert len(set(ids)) == len(ids) == pool.n_items == pool.cell_size.sum()
    assert pool.n_items == pool.group_size.sum() > 0
    assert all(item.strip() for item in ids)
    assert ((pool.predicted >= 0) & (pool.predicted < len(pool.classes))).all()
    assert not pool.has_scores or ((pool.score >= 0) & (pool.score <= 1)).all()
    assert all(pool.item(row).data["text"].strip() for row in range(pool.n_items))


def _check_rows(pool: Any, body: bytes, pool_part: Mapping[str, Any]) -> None:
    """Every line is an item, as another reader reads it."""
    lines = [line for line in body.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
    rows = {_as_text(row["item_id"]): row for row in map(json.loads, lines)}
    assert set(rows) == set(pool.item_ids.to_pylist())
    if "predicted" in pool_part:
        for n, item in enumerate(pool.item_ids.to_pylist()):
            assert pool.classes[pool.predicted[n]] == _as_text(rows[item]["predicted"])


def _as_text(value: object) -> str:
    """A truth value is a class or an id as JSON writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "annotation": annotation,
    "webhook": webhook,
    "plan": plan,
    "predictions": predictions,
    "export": stored.export,
    "header": stored.header,
    "state": stored.state,
}

__all__ = ["ENDINGS", "TARGETS", "Judgement", "bounded"]
