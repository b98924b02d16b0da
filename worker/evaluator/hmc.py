"""Hamiltonian Monte Carlo (NUTS of numpyro) over the weights of the network.

jax and numpyro are imported only when something is sampled: they are an optional extra.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from worker.evaluator.coordinates import Coordinates, as_given, in_box, whitened
from worker.evaluator.errors import ExtraMissing
from worker.evaluator.grouping import Grouped
from worker.evaluator.inputs import Floats
from worker.evaluator.network import Network
from worker.evaluator.options import Options

_START_SD = 1.0  # of the random weights that climbs begin with
_CLIMB = 300  # steps towards the nearest mode, from where a chain begins
_MAX_DEPTH = 10  # 1,023 leapfrog steps a draw at most
_STEPS = 10  # draws between two moments at which a person can interrupt


@dataclass(frozen=True, slots=True, eq=False)
class Chains:
    """What C chains of D draws have visited.

    weights: (C, D, P). divergent: (C, D). accepted: mean probability of acceptance.
    leapfrogs: mean steps a draw.
    """

    weights: Floats
    divergent: NDArray[np.bool_]
    accepted: float
    leapfrogs: float


def run_chains(network: Network, data: Grouped, options: Options, seed: int) -> Chains:
    """Sample the posterior of the weights; as many chains at once as there are processors.

    Every chain begins at a mode of its own, climbed to from random weights, so that chains which
    agree do so in spite of where they began.

    Raises:
        ExtraMissing: jax or numpyro is not installed.
    """
    try:
        import jax
        from numpyro.infer.hmc import hmc  # type: ignore[import-untyped]
    except ImportError as error:
        raise ExtraMissing(error.name or "numpyro") from None
    rng = np.random.default_rng(seed)
    with jax.enable_x64(True):
        coordinates, begin = _coordinates(network, data, options, rng)
        start, step = hmc(coordinates.potential, algo="NUTS")

        def steps(state: Any) -> Any:
            def one(state: Any, _: None) -> Any:
                state = step(state)
                weights = coordinates.weights_of(state.z)
                return state, (weights, state.diverging, state.accept_prob, state.num_steps)

            return jax.lax.scan(one, state, None, length=_STEPS)

        keys = jax.random.split(jax.random.PRNGKey(int(rng.integers(2**31))), options.chains)
        states = [
            start(coordinates.place_of(w), options.warmup, max_tree_depth=_MAX_DEPTH, rng_key=key)
            for w, key in zip(begin, keys, strict=True)
        ]
        compiled = jax.jit(steps).lower(states[0]).compile()

    def chain(state: Any) -> list[Any]:
        visited = []
        for _ in range(0, options.warmup + options.draws, _STEPS):
            state, seen = compiled(state)
            visited.append([np.asarray(one) for one in seen])
        kept = slice(options.warmup, options.warmup + options.draws)
        return [np.concatenate(parts)[kept] for parts in zip(*visited, strict=True)]

    with ThreadPoolExecutor(min(options.chains, os.cpu_count() or 1)) as pool:
        weights, divergent, accepted, leapfrogs = map(
            np.stack, zip(*pool.map(chain, states), strict=True)
        )
    return Chains(weights, divergent, float(accepted.mean()), float(leapfrogs.mean()))


def _coordinates(
    network: Network, data: Grouped, options: Options, rng: np.random.Generator
) -> tuple[Coordinates, list[Floats]]:
    """The coordinates to walk in, and the weights (P,) that each chain begins with."""
    import jax

    plain = as_given(network, data, options)
    slope = jax.jit(jax.value_and_grad(plain.potential))

    def climbed(weights: Floats) -> tuple[float, Floats]:
        def value_and_slope(w: Floats) -> tuple[float, Floats]:
            value, gradient = slope(w)
            return float(value), np.asarray(gradient, np.float64)

        found = minimize(
            value_and_slope,
            weights,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": _CLIMB},
        )
        return float(found.fun), np.asarray(found.x, np.float64)

    modes = [
        climbed(_START_SD * rng.standard_normal(network.n_weights)) for _ in range(options.chains)
    ]
    begin = [weights for _, weights in modes]
    if options.prior == "uniform":
        return in_box(network, data, options), begin
    best = min(modes, key=lambda mode: mode[0])[1]
    return whitened(network, data, options, best), begin
