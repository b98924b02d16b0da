"""The words around the numbers: question and rule as sentences, and the terms they use."""

from __future__ import annotations

from collections.abc import Sequence

from worker.assessment import Assessment
from worker.findings.annotating import annotation_text
from worker.findings.claims import PLURAL, listed, needs_the_right_set, within_text
from worker.findings.model_comparison import question_of_models
from worker.findings.wording import noun_of
from worker.formats import counted, percent
from worker.metrics import WORDS, words_of_outputs

_GLOSSARY = {
    "posterior": (
        "What is known of a number after the labels: every value that it may have, with its "
        "probability. It comes from the prior and the labels by Bayes' rule."
    ),
    "95% interval": (
        "Under the plan's prior and model the number lies in it with a probability of 95%, and "
        "below or above it with 2.5% each (equal-tailed credible interval); of accuracy it reaches "
        "1 where no error was seen, and of a calibration error it is the narrowest with 95%."
    ),
    "on the whole pool": (
        "The value that labelling every item would give. Labelled items are known, the others are "
        "completed with whole outcomes; once all are labelled nothing is open but whether the "
        "labels are right."
    ),
    "for all items like these": (
        "The value in an endless population that the pool is a sample of (`population: infinite`)."
    ),
    "prior": (
        "What is assumed before the first label. An empirical one is learnt from the scores and "
        "the labels, and is as wide as what it does not know."
    ),
    "score stratum": (
        "Items of one group with like scores. Errors are commoner where the score is low, so each "
        "stratum has a rate of its own."
    ),
    "mean reciprocal rank": (
        "How well a ranking agrees with the truth about the extreme groups: 1 if they are the "
        "reported ones, less the further down they stand (MRR)."
    ),
    "practically equal": (
        "Closer than epsilon, the difference that the plan calls negligible: the region of "
        "practical equivalence (ROPE)."
    ),
    "P(lowest), P(highest)": (
        "The probability that no group's value is lower, or higher: that the group is the extreme "
        "one itself, whatever the plan's tolerance."
    ),
    "rank": "The place among all groups, 1 for the lowest value; median and 95% interval.",
    "stop line": "Where the rule of the plan holds, so that labelling may end.",
    "look": (
        "The rule is asked at every 10% more labels; a claim must hold at several looks running, "
        "so that it is not published for a moment's luck."
    ),
    "band that holds at any time": (
        "An interval that, with the stated probability, holds the truth at every moment of the "
        "assessment at once, without any prior or model (confidence sequence)."
    ),
    "reliability diagram": (
        "Accuracy against score, bin by bin; a calibrated classifier lies on the diagonal."
    ),
    "smooth curve": (
        "Accuracy against score without bins: the score plus the mean of outcome minus score among "
        "the items of like score, with weights that fall off smoothly; its 95% band holds point by "
        "point. Its calibration error is the mean distance of score and curve over all items."
    ),
    "root mean squared error": (
        "How far the reported values lie from the true ones, weighted by the groups' shares."
    ),
    "second opinion": (
        "Something else that is known of the items before they are labelled and may go with "
        "errors, such as what another classifier says. Annotators do not see it; how much of it "
        "is believed is learnt from the labels."
    ),
    "Dawid-Skene": (
        "A way to infer from all votes together what the items are and how often each annotator "
        "says which class of the items of which; here the classifier is inferred with them."
    ),
    "Krippendorff's alpha": (
        "How far votes agree beyond chance: 1 if all votes on an item are the same, 0 if they are "
        "like votes drawn from a hat. Its interval is from resampled items (bootstrap)."
    ),
    "gold item": (
        "An item outside the pool whose class is known, shown among the others to see how often "
        "people are right. It counts nothing for the pool."
    ),
    "quality of an annotator": (
        "The probability that they name the class of an item right, with its 95% interval."
    ),
    "human frequencies": (
        "The shares of people who would choose each class for an item. Some votes on it tell of "
        "them; what they leave open is completed by what holds for the other items."
    ),
    "HPDI": "The narrowest interval that holds the number with the stated probability.",
    "skip": "An answer that says nothing of the item; it is then offered to others.",
    "skipped item": (
        "Given up after as many skips as the plan allows; it stays in the pool, unlabelled."
    ),
    "rejected item": (
        "Given up, because its only answer was rejected: an annotation that names no class of the "
        "pool, or could not be read."
    ),
    "withdrawn item": "Queued, and taken from the queue again before anybody answered.",
} | {
    words.term: words.meaning
    for words in (*WORDS.values(), words_of_outputs("accuracy"))
    if words.term
}


def question_text(work: Assessment) -> str:
    """What is asked, as a question."""
    asked, question = work.plan.question, work.question
    if work.several is not None:
        return question_of_models(work.several)
    words = work.plan.words
    noun = noun_of(work)
    nouns = PLURAL[noun]
    if question.task == "identify":
        extreme = words.lowest if question.which == "lowest" else words.highest
        n, top = len(work.group_names), question.top
        if question.shortlist is not None:
            what = extreme.format(noun) if top == 1 else f"{top} {extreme.format(nouns)}"
            are = "is" if top == 1 else "are"
            text = f"Among which {question.shortlist} of {n} {nouns} {are} the {what}?"
        elif top == 1:
            text = f"Which is the {extreme.format(noun)} of {n}?"
        else:
            text = f"Which are the {top} {extreme.format(nouns)} of {n}?"
        return " ".join(filter(None, (text, within_text(question))))
    if question.task == "compare":
        if asked.compare == "all":
            return f"How do the {words.names} of all {nouns} compare, pair by pair?"
        names = work.pool.group_names
        pairs = [listed([names[g1], names[g2]]) for g1, g2 in question.pairs or ()]
        return f"How do the {words.names} of {'; of '.join(pairs[:5])} compare?"
    if work.soft_labels is not None:
        return f"How far are the predictions from what people say (mean {words.name})?"
    if work.meaning.metric.pooled:
        return "How large is the pool's expected calibration error?"
    return f"How large are the {words.names} of all {nouns}?"


def rule_text(work: Assessment) -> str:
    """When labelling ends, and how the votes of several people count."""
    rule, stop = work.rule, work.plan.stop
    sure = percent(rule.confidence) if rule.confidence is not None else ""
    if rule.kind == "mrr":
        text = f"Labelling ends when it is {sure} sure that the answer"
        if needs_the_right_set(work.question, rule, work.confidence_sequence is not None):
            text += " is right"
        else:
            text += f" has a mean reciprocal rank of {rule.target:g} or more"
    elif rule.kind == "rope":
        text = (
            f"Labelling ends when it is {sure} sure of each pair that its values differ by more "
            f"than {rule.target:g}, and which is higher, or that they do not"
        )
    else:
        what = {"rmse": "the expected root mean squared error", "width": "the widest interval"}
        asked = what[rule.kind] if work.soft_labels is None else "the width of the mean's HPDI"
        text = f"Labelling ends when {asked} is {rule.target:g} or less"
    if stop.guarantee == "anytime":
        text += ", by bands that hold at any time and not by the posterior"
    elif stop.looks > 1:
        text += f", at {stop.looks} looks running"
    if stop.min_per_group:
        text += f", with at least {counted(stop.min_per_group, 'label')} a group"
    if rule.budget is not None:
        text += f"; in any case after {counted(rule.budget, 'label')}"
    return " ".join(filter(None, (f"{text}.", annotation_text(work))))


def progress_name(work: Assessment) -> str:
    """What the line of progress shows."""
    if work.rule.kind == "rmse":
        return "expected root mean squared error"
    if work.soft_labels is not None:
        return f"width of the mean's {100 * work.meaning.metric.level:g}% interval"
    if work.rule.kind == "width":
        return "width of the widest interval"
    if work.question.task == "compare":
        many = work.question.pairs == () or len(work.question.pairs) > 1
        return f"probability of what is said of the {'least sure ' * many}pair"
    if not needs_the_right_set(work.question, work.rule, work.confidence_sequence is not None):
        return f"probability that the mean reciprocal rank is {work.rule.target:g} or more"
    within = f" to within {work.question.tolerance:g}" if work.question.tolerance else ""
    alone = " by the posterior alone" if work.confidence_sequence is not None else ""
    return f"probability that the answer is right{within}{alone}"


def chances_text(work: Assessment) -> str:
    """How the probabilities of single groups differ from that of the answer; empty if not at all.

    `p_lowest` is that a group is the extreme one itself.
    """
    question, end = work.question, work.question.which
    if question.task != "identify" or work.several is not None:
        return ""
    only = []
    if question.tolerance:
        only.append(f"one within {question.tolerance:g} of it is not counted, as in the answer")
    if question.top > 1:
        only.append(f"the answer names {question.top} together")
    if not only:
        return ""
    return f"Each is the probability that the group is the {end} itself: {', and '.join(only)}."


def glossary(work: Assessment, shown: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The terms that the report of this assessment uses.

    Args:
        shown: further terms, because their sections are there.
    """
    plan, metric = work.plan, work.plan.metric
    used = {"posterior", "95% interval", "prior", "stop line", *shown}
    used.add("on the whole pool" if plan.population == "finite" else "for all items like these")
    used |= {"score stratum"} if plan.pool.strata > 1 else set()
    if plan.stop.guarantee == "anytime":
        used.add("band that holds at any time")
    elif plan.stop.looks > 1:
        used.add("look")
    by_rule = {
        "mrr": "mean reciprocal rank",
        "rope": "practically equal",
        "rmse": "root mean squared error",
    }
    used |= {plan.words.term, by_rule.get(work.rule.kind, "")}
    if work.soft_labels is not None:
        used |= {"human frequencies", "HPDI"}
    used |= {"second opinion"} if work.pool.opinions else set()
    used |= {"Dawid-Skene"} if work.rules.kind == "dawid-skene" else set()
    used |= {"P(lowest), P(highest)"} if work.question.task == "identify" else set()
    used |= {"rank"} if metric != "confusion" else set()
    return tuple((term, meaning) for term, meaning in _GLOSSARY.items() if term in used)
