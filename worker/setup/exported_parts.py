"""What every key of an export may hold, as models that refuse everything else."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    Json,
    StrictBool,
    StrictInt,
    StrictStr,
    TypeAdapter,
    create_model,
)

from worker.plan.model import assessment_id
from worker.plan.notify_part import EventKind
from worker.store.metadata import METADATA
from worker.store.records import RecordState
from worker.store.texts import MOST

# Here as text, there as numbers.
_WholeText = Annotated[int, Field(ge=0, lt=MOST)]

_Whole = Annotated[StrictInt, Field(ge=0, lt=MOST)]

_Seconds = Annotated[float, Field(ge=0, lt=1e12, allow_inf_nan=False)]

_CellText = Annotated[int, Field(ge=-1, lt=MOST)]

_AuthorText = Annotated[int, Field(ge=-MOST, lt=MOST)]

_TallyKey = Annotated[str, Field(pattern=r"^[0-9]{1,9}:-?[0-9]{1,16}:[0-9]{1,16}:")]

_EntryText = Annotated[str, Field(pattern=r"^[0-9]{1,19}-[0-9]{1,19}$")]


class _Header(BaseModel):
    model_config = ConfigDict(extra="ignore")
    assessment: Annotated[StrictStr, AfterValidator(assessment_id)]
    plan: StrictStr
    plan_hash: StrictStr
    pool_hash: StrictStr
    pool_file: Annotated[StrictStr, Field(min_length=1)]
    pool_sha256: Annotated[StrictStr, Field(pattern=r"^[0-9a-f]{64}$")]
    pool_stat: tuple[_Whole, StrictInt]
    project: _Whole
    url: Annotated[StrictStr, Field(pattern=r"^https?://\S+$")]
    control: StrictStr
    to_name: StrictStr
    labels: list[StrictStr]
    started_at: AwareDatetime


class _Meta(BaseModel):
    model_config = ConfigDict(extra="forbid")
    header: Json[_Header]
    status: Literal["running", "paused", "stopped"]
    revision: _WholeText = 0
    claims: _WholeText = 0
    reading: _WholeText = 0
    wakes: _WholeText = 0
    turn: str = ""


class _Changed(BaseModel):
    parts: StrictStr
    since_us: _Whole


class _Facts(BaseModel):
    """Those beside the state that hold JSON and are read; other texts are only shown."""

    labelling: Json[dict[str, StrictStr]] = {}
    labelling_changed: Json[_Changed] | Literal[""] = ""
    labelling_read_from: _WholeText | Literal[""] = ""


_NUMBERS: dict[type, Any] = {int: _WholeText | Literal[""], float: _Seconds | Literal[""]}
_FACTS: dict[str, Any] = {
    name: (_NUMBERS[kind], "") for name, kind in METADATA.items() if kind in _NUMBERS
}
_Metadata = create_model("_Metadata", __base__=_Facts, **_FACTS)


class _Choice(BaseModel):
    claim: _Whole
    item: StrictStr
    row: _Whole
    cell: Annotated[StrictInt, Field(ge=-1, lt=MOST)]
    revision: _Whole
    strategy: StrictStr
    pending: dict[_WholeText, _Whole] = {}


class _Outcome(BaseModel):
    revision: _Whole
    item: StrictStr
    cell: StrictInt
    before: StrictStr | None
    now: StrictStr | None


class _Rejected(BaseModel):
    item: StrictStr
    author: StrictInt | None
    reason: StrictStr


class _Decision(BaseModel):
    kind: Literal["stop", "review"]
    reason: StrictStr
    is_conclusive: StrictBool
    since: Literal["confirmed", "weakened", "overturned"] | None
    text: StrictStr
    chosen: list[StrictStr]
    confidence: float | None
    value: float | None
    labels: _Whole
    claims: _Whole
    revision: _Whole
    decided_at: Annotated[StrictStr, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$")]


class _Event(BaseModel):
    id: StrictStr
    kind: EventKind
    text: StrictStr
    revision: _Whole
    at: StrictStr


class _Notice(BaseModel):
    event: _Event
    target: _Whole
    tries: _Whole
    next_at: _Seconds | None
    error: StrictStr


_Told = tuple[
    StrictInt,  # the annotation
    StrictInt | None,  # by whom
    Literal["valid", "skipped", "rejected"],
    StrictStr | None,
    StrictStr,
    _Whole,
    float | None,
]


class _Record(BaseModel):
    v: Literal[1]
    item: StrictStr
    claim: _Whole
    row: _Whole
    cell: Annotated[StrictInt, Field(ge=-1, lt=MOST)]
    predicted: _Whole
    tasks: dict[_WholeText, tuple[_Whole, _Whole, Literal[0, 1], list[_Told]]]
    deleted: Literal[0, 1]
    outcome: StrictStr | None


class _Open(BaseModel):
    cell: Annotated[StrictInt, Field(ge=-1, lt=MOST)]
    row: _Whole
    claim: _Whole
    state: RecordState
    tasks: list[_Whole]
    open: list[_Whole]
    asked: list[StrictInt]
    predicted: _Whole
    outcome: StrictStr | None


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")
    revision: _WholeText
    decision: Json[_Decision]


_Counts = dict[_WholeText, _WholeText]

_Tasks = dict[_WholeText, Annotated[str, Field(pattern=r"^[0-9]{1,16}:[0-9]{1,9}:[0-9]{1,9}:")]]

# Key -> its type on the server, and what it holds.
_KEYS: dict[str, tuple[str, Any]] = {
    "meta": ("hash", _Meta),
    "notes": ("hash", _Metadata),
    "items": ("hash", dict[str, Json[_Record]]),
    "open": ("hash", dict[str, Json[_Open]]),
    "tasks": ("hash", _Tasks),
    "tally": ("hash", dict[_TallyKey, _WholeText]),
    "taken": ("hash", dict[_CellText, _WholeText]),
    "authors": ("hash", dict[_AuthorText, _WholeText]),
    "rejected": ("hash", dict[_WholeText, Json[_Rejected]]),
    "choices": ("list", list[Json[_Choice]]),
    "log": ("list", list[Json[_Outcome]]),
    "decided": ("hash", _Counts),
    "decision": ("string", Json[_Decision]),
    "decisions": ("stream", list[tuple[_EntryText, _Entry]]),
    "noticed": ("set", list[str]),
    "notices": ("hash", dict[str, Json[_Notice]]),
}

ADAPTERS = {name: (kind, TypeAdapter(holds)) for name, (kind, holds) in _KEYS.items()}
