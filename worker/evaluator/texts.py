"""What an experiment found, in words: the answer first, then what a reader must know of it."""

from __future__ import annotations

from collections.abc import Sequence

from worker.evaluator.experiments import Part, Predictor, PredictorExperiment
from worker.evaluator.fit_experiment import NOISY, FitExperiment, Fitted
from worker.evaluator.summaries import Confused, Distribution, Estimate

_MEANS = (
    "Draws of bnn are conditional means, in which a predictor's errors on single items cancel: "
    "they lie closer to people than its predictions do."
)
_MISFIT = (
    "{} does not quite describe these predictions; `--experiment fit` says which evaluator does "
    "best."
)
_OFF = 0.1  # of the value: how far draws may be from predictions before it is worth a word


def headline(found: FitExperiment | PredictorExperiment) -> str:
    """The answer in one or two sentences."""
    if isinstance(found, FitExperiment):
        return _fit_headline(found)
    if len(found.predictors) == 1:
        return _uncertainty_headline(found)
    return _selection_headline(found)


def remarks(found: FitExperiment | PredictorExperiment) -> list[str]:
    """What qualifies the answer: modes apart, fits that are off, clipped values, refusals."""
    if isinstance(found, FitExperiment):
        return _fit_remarks(found)
    told = []
    for predictor in found.predictors:
        for part in predictor.parts or (predictor.whole,):
            told += _part_remarks(found, name_of(found, predictor, part), part)
    if len(found.predictors) > 1:
        told.append(_own_order(found))
    return told


def confusions(found: PredictorExperiment, predictor: Predictor, most: int = 3) -> list[str]:
    """What a predictor confuses with what, a sentence a pair, the most confused first."""
    return [confusion_text(pair) for pair in predictor.whole.confused[:most]]


def confusion_text(pair: Confused) -> str:
    """One pair of classes in a sentence."""
    return (
        f"Where most people say {pair.human} ({pair.items:,} items), it gives {pair.predicted} "
        f"{share_of(pair.probability)}, and people give it {_percent(pair.people)}; it is the "
        f"likeliest class of {share_of(pair.share)} of these items "
        f"(of {_percent(pair.seen_share)} in the predictions themselves)."
    )


def name_of(found: PredictorExperiment, predictor: Predictor, part: Part) -> str:
    """What a row of a table or picture is called."""
    if not predictor.parts:
        return predictor.name
    if len(found.predictors) == 1:
        return part.name
    return f"{predictor.name}, {part.name}"


def number(value: float) -> str:
    """A value of a measure."""
    return f"{value:.4f}" if abs(value) < 100 else f"{value:,.1f}"


def between(low: float, high: float) -> str:
    """An interval."""
    return f"{number(low)} to {number(high)}"


def share_of(found: Estimate) -> str:
    """A share with its interval, in percent."""
    return f"{_percent(found.mean)} ({_percent(found.low)} to {_percent(found.high)})"


def modes(of: Distribution) -> str:
    """The pieces of the highest-density region, each with the share of the draws in it."""
    return ", ".join(f"{between(p.low, p.high)} ({_percent(p.share)})" for p in of.region)


def _percent(value: float) -> str:
    return f"{100 * value:.1f}%"


def _level(level: float) -> str:
    return f"{100 * level:g}%"


def _fit_headline(found: FitExperiment) -> str:
    first, by_score = found.by_interval[0], found.by_energy[0]
    of = _named(found, first).held_out
    assert of is not None, "who is ranked has been judged"
    text = (
        f"{first} fits best: {_level(found.level)} of its draws lie within "
        f"{number(of.distance.right_tailed)} of the predictions that it was not fitted to "
        "(normalised L2)"
    )
    if first == by_score:
        return f"{text}, and its energy score is the best, too."
    return (
        f"{text}. By the energy score, which also asks for the right certainty, it is {by_score}."
    )


def _named(found: FitExperiment, name: str) -> Fitted:
    return next(one for one in found.evaluators if one.evaluator == name)


def _fit_remarks(found: FitExperiment) -> list[str]:
    told = []
    for one in found.evaluators:
        if one.refused:
            told.append(f"{one.evaluator} refused: {one.refused}")
            continue
        assert one.held_out is not None, "who did not refuse has been judged"
        if len(one.held_out.distance.region) > 1:
            told.append(_several(one.evaluator, one.held_out.distance, found.level))
        noisy = one.held_out.with_noise
        if noisy is not None and noisy.mean > 1.2 * one.held_out.energy.mean:
            told.append(
                f"With its likelihood's noise the energy score of {one.evaluator} is "
                f"{number(noisy.mean)} instead of {number(one.held_out.energy.mean)}: `sigma2` is "
                "too large. The predictions lie about its means with a variance of "
                f"{one.held_out.residual:.2g} a class; a `sigma2` near that describes them better."
            )
    second = [name for name in found.by_energy[1:2] if not _is_behind(_named(found, name))]
    if second:
        told.append(
            f"The energy scores of {found.by_energy[0]} and {second[0]} do not differ by more than "
            "chance over the items."
        )
    return told


def _is_behind(one: Fitted) -> bool:
    return one.behind is not None and one.behind.low > 0


def _uncertainty_headline(found: PredictorExperiment) -> str:
    (predictor,) = found.predictors
    whole, level = predictor.whole, _level(found.level)
    unit = f" {found.unit}" if found.unit else ""
    text = (
        f"The {found.measure} between {predictor.name} and people is {number(whole.mean.mean)}"
        f"{unit} on average ({level} HPDI {between(whole.mean.low, whole.mean.high)})"
    )
    if whole.seen_distribution is None:
        return f"{text}, by draws of {found.evaluator}."
    return f"{text}; of a single item it lies in {between(whole.measure.low, whole.measure.high)}."


def _selection_headline(found: PredictorExperiment) -> str:
    named = {p.name: p for p in found.predictors}
    best, surest = named[found.best_first[0]], named[found.surest_first[0]]
    mean = best.whole.mean
    leads = f"{best.name} ({number(mean.mean)}, {between(mean.low, mean.high)})"
    off = [p.name for p in found.predictors if _leaves_open(p, best, found.is_better_high)]
    if off:
        return (
            f"Which predictor is best is left open: draws of {found.evaluator} are not like the "
            f"predictions of {', '.join(off)}. By their {found.measure} it would be {leads}; "
            f"by the predictions' own L2 it is {found.by_l2[0]}."
        )
    if found.by_l2[0] != best.name:
        return (
            f"Which predictor is best depends on the measure: by the {found.measure} it is "
            f"{leads}, by the predictions' own L2 {found.by_l2[0]}."
        )
    chance = best.p_best if best.p_best is not None else 1.0
    shown = "more than 99.9%" if chance > 0.999 else _percent(chance)
    word = "highest" if found.is_better_high else "lowest"
    text = (
        f"{best.name} is best: its {found.measure} is the {word}, {number(mean.mean)} "
        f"({between(mean.low, mean.high)}), and it is the best one of these "
        f"with a probability of {shown}"
    )
    width = f"{_level(found.level)} HPDI {number(surest.whole.measure.width)} wide"
    if best.name == surest.name:
        return f"{text}. It is also the most certain ({width})."
    return f"{text}. The most certain is {surest.name} ({width})."


def _is_off(part: Part) -> bool:
    """Whether draws are far from the predictions that they were fitted to."""
    is_outside = not part.mean.low <= part.seen <= part.mean.high
    return is_outside and abs(part.seen - part.mean.mean) > _OFF * abs(part.seen)


def _leaves_open(one: Predictor, best: Predictor, is_better_high: bool) -> bool:
    """Whether draws of one do not fit, and its own predictions do not lie behind the best's."""
    if one is best or not _is_off(one.whole):
        return _is_off(one.whole)
    seen, of_best = one.whole.seen, best.whole.mean
    return seen >= of_best.low if is_better_high else seen <= of_best.high


def _part_remarks(found: PredictorExperiment, name: str, part: Part) -> list[str]:
    told = []
    if len(part.measure.region) > 1:
        told.append(_several(name, part.measure, found.level))
    if _is_off(part):
        told.append(
            f"{name}: the mean of the predictions themselves, {number(part.seen)}, is outside the "
            f"interval of the draws' mean, {between(part.mean.low, part.mean.high)}. "
            + (_MEANS if found.evaluator in NOISY else _MISFIT.format(found.evaluator))
        )
    if part.n_clipped:
        share = part.n_clipped / (part.items * part.draws)
        told.append(
            f"{name}: {_percent(share)} of the draws give less than 1e-12 to a class that some "
            "people chose; they count as 1e-12, else their divergence were infinite."
        )
    return told


def _several(name: str, of: Distribution, level: float) -> str:
    return (
        f"{name}: the distribution has {len(of.region)} modes apart, so that one interval says too "
        f"little; where it is densest, {_level(level)}: {modes(of)}."
    )


def _own_order(found: PredictorExperiment) -> str:
    order = ", ".join(found.by_l2)
    same = "the same order" if found.by_l2 == found.best_first else "another order"
    return (
        f"The predictions' own mean L2 distances to the human frequencies, without an evaluator, "
        f"give {same}: {order}."
    )


def summed(names: Sequence[str]) -> str:
    """Names in order, best first."""
    return " < ".join(names)
