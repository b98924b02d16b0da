"""The register: every number with uncertainty that is shown, and the run that holds it.

A number that a document shows is either in `PUBLISHED`, with what tries it, or in `EXACT`: counts,
settings, and what follows from the predictions alone. `tests/calibration/test_register.py` walks
real documents of every task, and fails for a number that is in neither, and for a row of which no
document has a number.

Paths are as `worker.findings.published_paths` reads them. Pages and tables show the report's
numbers and no others; what they do not show is not here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from worker.findings.published_paths import is_of

Kind = Literal["interval", "probability", "claim", "estimate", "forecast"]


@dataclass(frozen=True, slots=True)
class Published:
    """One kind of number with uncertainty.

    documents: those that show it. paths: where. kind: what it promises. tried_by: the statistics
    of `make calibration` that hold it against truths, or tests by their files. says: what it is.
    """

    says: str
    kind: Kind
    documents: tuple[str, ...]
    paths: tuple[str, ...]
    tried_by: tuple[str, ...]


def _of(says: str, kind: Kind, documents: str, paths: str, *tried_by: str) -> Published:
    return Published(says, kind, tuple(documents.split()), tuple(paths.split()), tried_by)


PUBLISHED: tuple[Published, ...] = (
    _of("a group's value: 95% interval", "interval",
        "decision report status notebook", "groups[].{mean,low,high}", "group interval"),
    _of("the width of the widest of them", "interval",
        "metrics", "assay_posterior_width_max", "group interval", "model difference"),
    _of("all groups together, weighted by their shares of the pool; of a pool's ECE the median",
        "interval",
        "decision report", "overall.{mean,low,high}", "overall interval"),
    _of("the same by every metric that a file of labels tells", "interval",
        "report", "source.metrics[].{overall,groups[]}.{mean,low,high}",
        "group interval", "overall interval"),
    _of("the rank of a group: median and 95% interval", "interval",
        "decision report notebook", "groups[].{rank,rank_low,rank_high}", "rank interval"),
    _of("the chance that no group is lower", "probability",
        "decision report notebook", "groups[].p_lowest", "P(lowest)"),
    _of("the chance that no group is higher", "probability",
        "decision report notebook", "groups[].p_highest", "P(highest)"),
    _of("a group's value at all times, whatever is believed", "interval",
        "decision report notebook", "groups[].{band_low,band_high}", "any-time bands"),
    _of("the share of a true class among the items of a predicted one", "interval",
        "decision status notebook", "groups[].{confusion,confusion_low,confusion_high}.*",
        "confusion entry"),
    _of("the same as a matrix", "interval",
        "report", "confusion.{mean,low,high}[][]", "confusion entry"),
    _of("how frequent a kind of failure is in the whole pool", "interval",
        "report", "failures[].{mean,low,high}", "failure kind"),
    _of("how many of the outputs that people call right, or wrong, the judge calls so", "interval",
        "report", "judge[].{mean,low,high}", "judge's rate"),
    _of("how the groups of a pair stand to one another", "probability",
        "decision report", "pairs[].{below,within,above}", "pair region"),
    _of("how far the values of two groups, or models, are apart", "interval",
        "report", "densities.differences[].{mean,low,high}", "difference of groups"),
    _of("the chances of either side of what counts as equal, and of that itself", "probability",
        "report", "densities.differences[].{below,within,above}", "pair region of a difference"),
    _of("a calibration error again, beside its density", "interval",
        "report", "densities.ece[].{mean,low,high}", "group interval", "overall interval"),
    _of("the densities of both: pictures of the same posterior", "estimate",
        "report", "densities.{ece,differences}[].outline.{at,density}[]",
        "tests/report/test_densities.py"),
    _of("how sure the finding is; of several pairs, that of the least certain one", "probability",
        "decision report status notebook", "confidence", "confidence"),
    _of("how sure it is that the answer is among the shortlist's groups", "probability",
        "decision report status", "shortlist.confidence", "shortlist"),
    _of("the same of a model's own groups", "probability",
        "decision report status", "models.shortlists[].confidence", "shortlist"),
    _of("how sure, for Prometheus", "probability", "metrics", "assay_confidence", "confidence"),
    _of("how sure a published finding was", "claim",
        "notebook", "decisions[].confidence", "claim"),
    _of("how sure it was before", "probability",
        "report", "changes.confidence_was", "confidence"),
    _of("how sure, or how exact, it was after the first labels", "probability",
        "report", "progress[].reached", "confidence", "tests/core/test_claims.py"),
    _of("what the rule looks at: an expected error, the width of an interval, or a confidence",
        "estimate", "decision report status", "value", "confidence", "tests/core/test_claims.py"),
    _of("the same of a published decision", "estimate",
        "notebook", "decisions[].value", "confidence", "tests/core/test_claims.py"),
    _of("the difference of two models' accuracies", "interval", "decision report status",
        "models.{differences,pairs}[].{mean,low,high}", "model difference"),
    _of("how two models stand to one another", "probability",
        "decision report status", "models.differences[].{below,within,above}", "pair region"),
    _of("a model's accuracy in one of its own groups", "interval",
        "decision report status", "models.groups[].{mean,low,high}", "model's own group"),
    _of("how far a model is behind the best one", "interval",
        "decision report status", "models.best[].{behind,low,high}", "model behind"),
    _of("the chance that no model is better", "probability",
        "decision report status", "models.best[].p_best", "P(best model)"),
    _of("half-way between the last group that is chosen and the next", "estimate",
        "report", "boundary", "group interval"),
    _of("a group's mean, in this report and in the one before", "estimate",
        "report", "changes.moved[].{was,now}", "group interval"),
    _of("accuracy of the items of a score bin", "interval",
        "report", "reliability.bins[].{accuracy,low,high}", "reliability bin"),
    _of("accuracy at a score", "interval",
        "report", "reliability.curve[].{accuracy,low,high}", "reliability curve"),
    _of("the accuracy of a parent of groups", "interval",
        "report", "parents[].accuracy.{mean,low,high}", "group interval"),
    _of("a parent's own reliability, by bins", "interval",
        "report", "parents[].reliability.bins[].{accuracy,low,high}", "parent's reliability bin"),
    _of("a parent's own reliability, as a curve", "interval",
        "report", "parents[].reliability.curve[].{accuracy,low,high}", "reliability curve"),
    _of("a parent's own calibration error", "interval",
        "report", "parents[].reliability.{ece,curve_ece}.{mean,low,high}", "parent's ECE"),
    _of("how different parents are: the standard deviation between all that are like them",
        "interval", "report", "apart.sd.{mean,low,high}", "sd between parents"),
    _of("the accuracy of a further parent", "interval",
        "report", "apart.new.{mean,low,high}", "further parent"),
    _of("the mean measure over a part of the items (task evaluate)", "interval",
        "report", "evaluation.predictors[].{whole,parts[]}.mean.{mean,low,high}",
        "overall interval", "group interval"),
    _of("the same means again, for orders and captions", "estimate",
        "report", "evaluation.predictors[].{whole,parts[]}.{seen,l2}", "overall interval"),
    _of("how the measure of single items is spread: a picture of the posterior's items",
        "estimate", "report",
        "evaluation.predictors[].{whole,parts[]}.measure.{mean,median,low,high,right_tailed} "
        "evaluation.predictors[].{whole,parts[]}.measure.{at,density}[] "
        "evaluation.predictors[].{whole,parts[]}.measure.region[].{low,high,share}",
        "tests/core/soft_labels/test_known.py"),
    _of("what the predictions make of items for which most people chose a class", "interval",
        "report",
        "evaluation.predictors[].whole.confused[].{probability,share}.{mean,low,high}",
        "tests/worker/assessment/test_soft_labels.py"),
    _of("the quality of an annotator", "interval",
        "report notebook", "annotators[].{quality,quality_low,quality_high}",
        "tests/core/crowd/test_quality.py", "tests/core/crowd/test_posterior.py"),
    _of("how often an annotator says one class of items of another", "interval",
        "report", "confusions.of[].mistakes[].{mean,low,high} confusions.of[].{mean,sd}[][]",
        "tests/core/crowd/test_quality.py", "tests/core/crowd/test_posterior.py"),
    _of("the chance that a disputed item is of its likeliest class", "probability",
        "report", "disputed[].sure", "tests/core/crowd/test_posterior.py"),
    _of("agreement beyond chance, with its bootstrap interval", "interval",
        "report", "agreement.{alpha,low,high}", "tests/core/crowd/test_agreement.py"),
    _of("how well the draws of the items' classes mixed", "estimate",
        "report", "r_hat", "tests/core/crowd/test_posterior.py"),
    _of("a value as it was known at the end of the assessment before", "interval",
        "report", "then_and_now.{whole,groups[]}.{then_mean,then_low,then_high}",
        "group interval", "overall interval"),
    _of("the value now, with earlier labels in part", "interval",
        "report", "then_and_now.{whole,groups[]}.{now_mean,now_low,now_high}",
        "group interval", "overall interval"),
    _of("what differs since then, for like items", "interval",
        "report",
        "then_and_now.{whole,groups[]}.{difference,difference_low,difference_high}",
        "tests/core/test_change.py"),
    _of("the chances of a change that matters", "probability",
        "report", "then_and_now.{whole,groups[]}.{lower,about_equal,higher}",
        "tests/core/test_change.py"),
    _of("how surprising the new labels are if nothing changed", "probability",
        "report", "then_and_now.{whole,groups[]}.p", "tests/core/test_change.py"),
    _of("what an earlier label still counts", "estimate",
        "report", "then_and_now.{whole,groups[]}.believed", "group interval"),
    _of("the same, in short", "estimate", "decision status", "continues.believed",
        "group interval"),
    _of("how surprising the new predictions are if nothing changed", "probability",
        "report", "then_and_now.{class_p,score_p}", "tests/core/test_shift.py"),
    _of("which kind of shift it is", "probability",
        "report", "then_and_now.shift.{covariate,label,concept,times}",
        "tests/core/test_shift.py"),
    _of("the classifier's accuracy where an opinion agrees, and where it does not", "interval",
        "decision report status", "opinions.of[].sides[].accuracy.{mean,low,high}",
        "accuracy by agreement"),
    _of("how many times as many labels, and how many, were needed without opinions", "interval",
        "decision report status", "opinions.{ratio,saved}.{mean,low,high}", "ratio of labels"),
    _of("what is learnt of an opinion: the likeliest weight in the fitted prior", "estimate",
        "decision report status", "opinions.weights[].{weight,times}",
        "tests/worker/findings/test_opinions.py"),
    _of("how many labels more, at a guess: holds in two thirds", "forecast",
        "report", "forecast.{labels_more,labels_low,labels_high}", "forecast"),
    _of("a value in each of two assessments", "interval",
        "comparison", "{overall,groups[]}.{a,b}.{mean,low,high}",
        "group interval", "overall interval"),
    _of("how a value differs between them", "interval",
        "comparison", "{overall,groups[]}.difference.{mean,low,high}",
        "tests/report/test_comparing.py"),
    _of("the chance that it is higher, or lower", "probability",
        "comparison", "{overall,groups[]}.{p_higher,p_lower}",
        "tests/report/test_comparing.py"),
    _of("what a choice of an item was expected to bring: it decides no finding", "estimate",
        "notebook", "choices[].numbers.*", "tests/core/test_strategies_ours.py"),
)  # fmt: skip

_GROUP = "groups[].{size,labelled,right}"
EXACT: tuple[tuple[str, str], ...] = (
    ("decision report comparison", "version"),
    ("decision report status notebook", "labels"),
    ("decision report status notebook", "revision"),
    ("decision report status notebook", "pool_items"),
    ("decision status", "annotation.{per_item,per_item_max,gold_answered,item_confidence}"),
    ("decision status", "annotators claims"),
    ("decision status", "continues.labels continues.left_out.*"),
    ("decision", "deleted_items skipped_items rejected rejected_items known.items project seed"),
    ("decision", "evaluation.{level,per_item,votes} prior.strength"),
    ("decision report status notebook", _GROUP),
    ("report notebook", "groups[].share"),
    ("decision report status", "opinions.of[].{silent,agrees}"),
    ("decision report status", "opinions.of[].sides[].{items,labelled,right}"),
    ("decision report status", "models.differences[].{size,disagreed,labelled}"),
    ("decision report status", "models.differences[].{first_right,second_right}"),
    ("decision report status", "models.agreed models.groups[].{size,labelled,right}"),
    ("decision report", "question.{top,tolerance,shortlist,bins,cost_ratio}"),
    ("decision report", "rule.{target,confidence,budget,min_per_group,looks}"),
    (
        "report",
        "epsilon densities.epsilon n_pairs top progress_target progress[].labels changes.labels",
    ),
    ("report", "items.* n_rejected source.{labelled,empty,elsewhere} forecast.pace_per_hour"),
    ("report", "parents[].{items,labelled} failures[].labelled"),
    ("report", "reliability.bins[].{score,items,labelled} reliability.curve[].score"),
    ("report", "reliability.{ece,curve_ece}.{mean,low,high}"),  # once all is labelled
    ("report", "parents[].reliability.bins[].{score,items,labelled}"),
    ("report", "parents[].reliability.curve[].score"),
    ("report", "decisions[].{revision,labels}"),
    ("report", "reproduce.{seed,strata,project} reproduce.prior.strength"),
    ("report", "agreement.{items,votes} disputed[].votes.* rejected[].annotation"),
    ("report", "evaluation.{items,level,predictions}"),
    ("report", "evaluation.predictors[].{whole,parts[]}.{items,draws,n_clipped}"),
    ("report", "evaluation.predictors[].{whole,parts[]}.measure.n"),
    # of the predictions and the votes themselves
    ("report", "evaluation.predictors[].whole.confused[].{items,people,seen,seen_share}"),
    # what a person did, and how often their answers are the class that counts
    ("report notebook", "annotators[].{labels,skips,shared,gold,gold_right,agreement}"),
    ("report notebook", "annotators[].{per_hour,median_s}"),
    ("notebook", "annotators[].{author,last_at}"),
    ("notebook", "choices[].{claim,cell,revision} choices[].pending.*"),
    ("notebook", "decisions[].{labels,revision,decided_at}"),
    ("notebook", "judgements[].{annotation,task,author,at,seconds,score}"),
    ("report", "then_and_now.{epsilon,labels} then_and_now.left_out.*"),
    ("report", "then_and_now.{class_distance,score_distance}"),
    ("report", "then_and_now.{whole,groups[]}.{labels_then,labels_now,share_then}"),
    ("status", "open_items foreign_tasks polled_at project retired.* waiting_votes.*"),
    ("comparison", "{a,b}.{labels,pool_items,revision} {overall,groups[]}.{labels_a,labels_b}"),
    ("metrics", "assay_running assay_labels_total assay_pool_items assay_open_items"),
    ("metrics", "assay_readable assay_pending_events assay_rejected assay_events_behind"),
    ("metrics", "assay_poll_age_seconds assay_webhook_gap_seconds assay_label_age_seconds"),
)


def row_of(document: str, path: str) -> Published | None:
    """The row of a number; None if it is in none, or exact."""
    return next(
        (row for row in PUBLISHED if document in row.documents and is_of(path, row.paths)), None
    )


def is_exact(document: str, path: str) -> bool:
    """Whether a number is a count, a setting, or follows from the predictions alone."""
    return any(
        document in documents.split() and is_of(path, paths.split()) for documents, paths in EXACT
    )
