"""Assessment and ledger -> report: one look at the state, and everything that follows from it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from connector.settings import people_url
from worker.assessment import Assessment
from worker.assessment.verdicts import seen_in
from worker.core.posterior.belief import Belief
from worker.findings.best_model import told_of_models
from worker.findings.changing import continuation
from worker.findings.decision import question_of, rule_of, versions
from worker.findings.evidence import among_rows, group_rows, overall, pair_rows
from worker.findings.fates import left_out_text
from worker.findings.foreseen import to_be_had
from worker.findings.opinions import opinions_of
from worker.findings.ranks import group_ranks
from worker.findings.wording import finding, guarantee_means, headline
from worker.formats import probability
from worker.plan import Plan
from worker.report import contents
from worker.report.contents_people import Agreement, Annotator
from worker.report.contents_progress import Forecast
from worker.report.densities import densities_of
from worker.report.failures import failures_of
from worker.report.families import families
from worker.report.groups import boundary_of, confusion_of, groups_of, pair_of
from worker.report.judge import judge_of
from worker.report.people import annotators, called, items, label_times, rejected
from worker.report.progress import changes, forecast, progress
from worker.report.reliability import reliability
from worker.report.votes import agreement, confusions, disputed, inferred
from worker.report.words import chances_text, glossary, progress_name, question_text, rule_text
from worker.store import Header, Ledger
from worker.store.snapshots import taken_together

if TYPE_CHECKING:
    from worker.evaluator.experiments import PredictorExperiment

N_PAIRS = 500


def gather(
    work: Assessment,
    header: Header,
    ledger: Ledger,
    *,
    previous: Mapping[str, Any] | None = None,
    names: Mapping[int, str] | None = None,
    now: datetime | None = None,
) -> contents.Report:
    """Say everything that is known of an assessment now; Label Studio is not asked.

    Args:
        previous: the JSON of the report before, for what changed since.
        names: what Label Studio's users are called; None: the report names nobody.
        now: the moment of the report; None for this one.
    """
    now = (now or datetime.now(UTC)).astimezone(ZoneInfo(work.plan.report.timezone))
    state, records = taken_together(ledger)
    belief, verdict = seen_in(work, state)
    decisions = [json.loads(text) for text in ledger.decisions()]
    stop = next((d for d in reversed(decisions) if d["kind"] == "stop"), None)
    is_stopped = state.status == "stopped" and stop is not None
    left = to_be_had(work, state)
    ahead = None
    if not is_stopped and verdict.reason == "open" and not work.pool.labelled_in:
        ahead = forecast(work, belief, verdict, left, label_times(records), now)
    found, in_all = group_ranks(belief), overall(work, belief)
    groups = groups_of(work, belief, group_rows(work, belief, state, found), verdict)
    said = finding(work, belief, verdict)
    among, listed, of_models = among_rows(work, belief, state)
    now_said = headline(work, belief, verdict, among)
    curve = reliability(work, belief, state.tally, records)
    above, apart = families(work, belief, state.tally, records)
    fates = items(work, ledger, state)
    names_of = called(records, map(int, state.authors), names)
    votes = inferred(work, state.tally)
    people = annotators(work, state.tally, records, names_of)
    agreed = agreement(work, records)
    far, in_words = _judged(work, belief, state.tally)
    pairs = sorted(pair_rows(work, verdict), key=lambda p: max(p["below"], p["within"], p["above"]))
    plan = work.plan
    is_of_differences = work.several is not None and bool(work.several.asked)
    return contents.Report(
        version=contents.VERSION,
        assessment=header.assessment,
        title=plan.label_studio.title or header.assessment,
        made_at=now.astimezone(UTC).isoformat(timespec="seconds"),
        started_at=header.started_at,
        revision=state.revision,
        status=state.status,
        text=_text(stop if is_stopped else None, now_said, ahead, decisions),
        is_enough=verdict.reason == "answered"
        or (verdict.reason == "exhausted" and verdict.certain),
        is_certain=verdict.certain,
        confidence=None if verdict.confidence is None else probability(verdict.confidence),
        value=_maybe(verdict.value),
        shortlist=listed,
        forecast=ahead,
        question=question_of(plan),
        question_text=question_text(work),
        rule=rule_of(work),
        rule_text=rule_text(work),
        guarantee=plan.stop.guarantee,
        guarantee_means=guarantee_means(work),
        metric=plan.metric,
        metric_name="difference in accuracy" if is_of_differences else plan.words.name,
        which=work.question.which,
        top=work.question.top,
        labels=verdict.labels,
        pool_items=work.pool.n_items,
        left_out=left_out_text(work.pool.dropped),
        progress=() if work.pool.labelled_in else tuple(progress(work, state.tally, verdict, said)),
        progress_name=progress_name(work),
        progress_target=work.rule.confidence or work.rule.target,
        progress_is_share=work.rule.confidence is not None,
        groups=groups,
        overall=None if in_all is None else contents.Interval(*map(_digits, in_all)),
        boundary=None if work.several is not None else boundary_of(groups, verdict),
        epsilon=work.question.epsilon if work.question.task == "compare" else None,
        pairs=tuple(pair_of(pair) for pair in pairs[:N_PAIRS]),
        n_pairs=len(pairs),
        reliability=curve,
        confusion=confusion_of(work, belief),
        changes=changes(previous, verdict.labels, groups) if previous else None,
        annotators=people,
        items=fates,
        rejected=rejected(ledger),
        n_rejected=state.n_rejected,
        decisions=tuple(_in_short(d) for d in decisions),
        reproduce=_reproduce(work, header),
        glossary=glossary(work, _terms(curve, fates, agreed, people)),
        progress_decides=work.confidence_sequence is None or work.rule.confidence is None,
        chances_text=chances_text(work),
        agreement=agreed,
        disputed=disputed(work, records, votes),
        confusions=confusions(work, names_of, votes),
        failures=failures_of(work, state.tally),
        judge=judge_of(work, belief),
        r_hat=None if votes is None or votes.crowd is None else round(votes.crowd.r_hat, 3),
        evaluation=far,
        evaluation_text=in_words,
        parents=above,
        parents_are=_parents_are(work.plan),
        apart=apart,
        opinions=opinions_of(work, belief),
        then_and_now=continuation(work, belief, state.tally),
        models=told_of_models(work, belief, verdict, of_models),
        densities=densities_of(work, belief, verdict, groups),
    )


def _text(
    stop: Mapping[str, Any] | None,
    now: str,
    ahead: Forecast | None,
    decisions: Sequence[Mapping[str, Any]],
) -> str:
    """The published stop (with what later labels made of it), or where things stand."""
    if stop is None:
        return now if ahead is None else f"{now} {ahead.text}"
    latest = decisions[-1]
    if latest["kind"] != "review":
        return str(stop["text"])
    if latest["since"] == "confirmed":  # its own text says all of it again
        return f"{stop['text']} Confirmed by later labels, {latest['labels']:,} in all."
    return f"{stop['text']} {latest['text']}"


def _parents_are(plan: Plan) -> str:
    factor = plan.pool.parent_factor
    if factor is None:
        return plan.pool.site or ""
    return "superclass" if factor.kind == "superclass" else factor.column


def _judged(
    work: Assessment, belief: Belief, tally: Mapping[str, int]
) -> tuple[PredictorExperiment | None, tuple[str, ...]]:
    """Of the task evaluate: how far predictions are from votes, and what is confused, in words."""
    if work.soft_labels is None:
        return None, ()
    # The evaluators are slow to load, and other tasks do not need them.
    from worker.report.distances import distances_so_far, sentences

    far = distances_so_far(work, belief, tally)
    return far, sentences(far)


def _in_short(decision: Mapping[str, Any]) -> dict[str, Any]:
    keys = ("kind", "reason", "since", "text", "decided_at", "revision", "labels", "is_conclusive")
    return {key: decision[key] for key in keys}


def _reproduce(work: Assessment, header: Header) -> dict[str, Any]:
    plan = work.plan
    return {
        "plan_hash": header.plan_hash,
        "pool_hash": header.pool_hash,
        "seed": plan.seed,
        "strategy": plan.strategy,
        "prior": plan.prior.model_dump(mode="json"),
        "population": plan.population,
        "strata": plan.pool.strata,
        "versions": versions(),
        "project": header.project,
        "url": people_url(header.url),
        "commands": [f"assay replay {header.assessment}", f"assay export {header.assessment}"],
    }


def _terms(
    curve: contents.Reliability | None,
    fates: contents.Items,
    agreed: Agreement | None,
    people: Sequence[Annotator],
) -> list[str]:
    given_up = ("skipped", "rejected", "withdrawn")
    terms = [f"{name} item" for name in given_up if getattr(fates, name)]
    terms += ["skip"] if fates.skipped or any(one.skips for one in people) else []
    if curve is not None:
        terms += ["reliability diagram", "smooth curve", "expected calibration error"]
    terms += ["Krippendorff's alpha"] if agreed is not None else []
    terms += ["gold item"] if fates.gold is not None else []
    has_quality = any(one.quality is not None for one in people)
    return terms + (["quality of an annotator"] if has_quality else [])


def _digits(number: float) -> float:
    return round(float(number), 6)


def _maybe(number: float | None) -> float | None:
    return None if number is None else _digits(number)
