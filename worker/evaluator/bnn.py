"""The Bayesian neural network: the predictions that a human label may lead to, and how surely."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from worker.evaluator.convergence import effective_size, r_hat
from worker.evaluator.errors import NotConverged
from worker.evaluator.grouping import Grouped, grouped, spread
from worker.evaluator.hmc import Chains, run_chains
from worker.evaluator.inputs import Floats, labels, predictions
from worker.evaluator.network import Network
from worker.evaluator.noise import add_noise
from worker.evaluator.options import Options

MOST_R_HAT, LEAST_ESS, MOST_DIVERGENT = 1.05, 100.0, 0.01
_PROBES = 100


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """How well the chains describe the posterior.

    Judged by predictions, since hidden units may change places: at 200 human labels of the data,
    half of them as far apart as they can be, and of their mean over the items.

    r_hat: the largest. ess: the smallest effective sample size. divergent: share of the draws.
    accepted: mean probability of acceptance. leapfrogs: mean steps a draw. chains, warmup, draws:
    as asked. distinct: human labels that differ; the likelihood's cost grows with these.
    """

    r_hat: float
    ess: float
    divergent: float
    accepted: float
    leapfrogs: float
    chains: int
    warmup: int
    draws: int
    distinct: int


@dataclass(frozen=True, slots=True, eq=False)
class BnnEvaluator:
    """Draws predictions by networks drawn from the posterior.

    weights: (W, P), of `network`; the chains' first draws come first. sigma2: of the likelihood.
    """

    name: str
    network: Network
    weights: Floats
    sigma2: float
    diagnostics: Diagnostics

    @property
    def n_classes(self) -> int:
        """K."""
        return self.network.k

    def sample(self, human: Floats, n_draws: int, rng: Generator, *, noise: bool = True) -> Floats:
        """See `worker.evaluator.contract.Evaluator.sample`.

        Draw d always comes from the same network; more draws than there are networks begin again
        with the first. With noise a prediction is drawn from the likelihood given that it lies in
        the simplex; sigma2 is a setting, so the noise says what was assumed of the predictor.
        """
        human = labels(human, self.n_classes)
        n_networks = self.weights.shape[0]
        which = np.arange(n_draws) % n_networks
        if n_draws < n_networks:
            which = np.arange(n_draws) * n_networks // n_draws
        drawn = self.network.predict(self.weights[which], human)
        return add_noise(drawn, self.sigma2, rng) if noise else drawn


def fit_bnn(human: Floats, predicted: Floats, *, options: Options, seed: int) -> BnnEvaluator:
    """Sample the posterior of the network's weights, and refuse it if the chains do not agree.

    Args:
        human, predicted: N items; several predictions of an item all count.
        options: `prior: normal` is N(0, 2^2) of every weight and bias: fitted to half of CIFAR-10H
            its draws were 0.0884 off the other half (mean square; 0.0888 with 1, 0.0883 with 3,
            0.0903 with 5), and 3 and 5 take two and six times the steps. `uniform` is flat in a box
            from -20 to 20: flat without bounds, as in the paper, it has no posterior, because
            saturated units leave the likelihood as it is however large their weights.

    Raises:
        ExtraMissing: jax or numpyro is not installed.
        NotConverged: R-hat above 1.05, fewer than 100 effective draws of some prediction, or more
            than 1% divergent ones.

    Source:
        Equation 8 and supplement 3.6.2 of the framework's paper (arXiv 2007.06711), sampled there
        for 3 days by HMC with 3 leapfrog steps; here by NUTS.
    """
    human = labels(human)
    data = grouped(human, predictions(predicted, human))
    k = human.shape[1]
    network = Network(k, options.hidden if options.hidden is not None else k - 1)
    chains = run_chains(network, data, options, seed)
    found = diagnose(network, data, chains, options)
    _refuse_if_poor(found, options)
    weights = chains.weights.transpose(1, 0, 2).reshape(-1, network.n_weights)
    return BnnEvaluator("bnn", network, weights, options.sigma2, found)


def diagnose(network: Network, data: Grouped, chains: Chains, options: Options) -> Diagnostics:
    """Judge the chains by their predictions."""
    c, d, p = chains.weights.shape
    weights = chains.weights.reshape(-1, p)
    at_probes = network.predict(weights, data.human[_probes(data)])
    numbers = [at_probes.transpose(1, 0, 2).reshape(c, d, -1), _mean(network, weights, data, c)]
    told = np.concatenate(numbers, axis=2)
    return Diagnostics(
        r_hat=float(r_hat(told).max()),
        ess=float(effective_size(told).min()),
        divergent=float(chains.divergent.mean()),
        accepted=chains.accepted,
        leapfrogs=chains.leapfrogs,
        chains=c,
        warmup=options.warmup,
        draws=d,
        distinct=data.human.shape[0],
    )


def _mean(network: Network, weights: Floats, data: Grouped, n_chains: int) -> Floats:
    """(C, D, K), the mean prediction of all items by every network."""
    total = np.zeros((weights.shape[0], network.k))
    step = max(1, 4_000_000 // (weights.shape[0] * network.k))
    for start in range(0, data.human.shape[0], step):
        part = slice(start, start + step)
        predicted = network.predict(weights, data.human[part])
        total += np.tensordot(data.count[part], predicted, axes=1)
    mean: Floats = (total / data.count.sum()).reshape(n_chains, -1, network.k)
    return mean


def _probes(data: Grouped) -> list[int]:
    """Up to 100 human labels as far apart as they can be, and 100 from all over the list."""
    apart = spread(data.human, _PROBES, int(data.count.argmax()))
    evenly = np.linspace(0, data.human.shape[0] - 1, _PROBES).astype(np.int64)
    return sorted({*apart.tolist(), *evenly.tolist()})


def _refuse_if_poor(found: Diagnostics, options: Options) -> None:
    checks = (
        (found.r_hat <= MOST_R_HAT, f"R-hat is {found.r_hat:.3f} (at most {MOST_R_HAT})"),
        (
            found.ess >= LEAST_ESS,
            f"the effective sample size {found.ess:.0f} (least {LEAST_ESS:g})",
        ),
        (
            found.divergent <= MOST_DIVERGENT,
            f"{found.divergent:.1%} of the draws diverged (at most {MOST_DIVERGENT:.0%})",
        ),
    )
    poor = [text for is_good, text in checks if not is_good]
    if not poor:
        return
    cures = [f"double `warmup` ({options.warmup}) and `draws` ({options.draws})"]
    if options.prior == "uniform":
        cures.append("take `prior: normal`")
    cures.append(f"raise `sigma2` ({options.sigma2:g}): a sharper likelihood is harder to explore")
    raise NotConverged(
        f"the {options.chains} chains of `bnn` do not describe the posterior: {'; '.join(poor)}, "
        f"so nothing is reported. Under `evaluate` in the plan, {'; or '.join(cures)}."
    )
