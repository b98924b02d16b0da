"""The posterior of the network's weights, in coordinates in which it is easy to walk.

Weights as they are make a bad map: the output layer's are tied to each other and to the hidden
layer's so closely that a walk of 1,000 steps does not get from one end to the other. Given the
hidden layer the network is a regression of logits on its units, whose normal posterior is known;
here the output layer is said in standard deviations of that. Only the way of saying it changes: the
determinant of the map is part of the density.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from worker.evaluator.grouping import Grouped, nearest, spread
from worker.evaluator.inputs import Floats
from worker.evaluator.network import Network
from worker.evaluator.options import Options
from worker.evaluator.simplex import Simplex

PRIOR_SD = 2.0  # of every weight and bias under `prior: normal`
BOX = 20.0  # `prior: uniform` is flat between -BOX and BOX
_LEADERS = 128  # labels that stand for all in the map, though not in the likelihood


@dataclass(frozen=True, slots=True, eq=False)
class Coordinates:
    """A map between places z (P,) and weights (P,), as functions of JAX arrays.

    potential: minus the log posterior density at z, but for a constant.
    """

    potential: Callable[[Any], Any]
    weights_of: Callable[[Any], Any]
    place_of: Callable[[Any], Any]


def likelihood(network: Network, data: Grouped, sigma2: float) -> Callable[[Any], Any]:
    """Minus the log likelihood of weights (P,), but for a constant.

    In float32, four times as fast: its rounding is far below what HMC accepts. Items lie along the
    last axis of every array, which is what the compiler turns into fast code.
    """
    import jax
    import jax.numpy as jnp

    simplex = Simplex(network.k)
    rotation = jnp.asarray(simplex.rotation, jnp.float32)
    origin = jnp.eye(network.k, 1, dtype=jnp.float32)
    x = jnp.asarray(simplex.down(data.human).T, jnp.float32)
    mean = jnp.asarray(data.mean.T, jnp.float32)
    precision = jnp.asarray(data.count / (2 * sigma2), jnp.float32)

    def surprise(weights: Any) -> Any:
        inner, bias, outer, shift = network.layers(weights.astype(jnp.float32))
        hidden = jax.nn.sigmoid(inner @ x + bias[:, None])
        logits = (rotation @ outer) @ hidden + (rotation @ shift)[:, None] + origin
        odds = jnp.exp(logits - jax.lax.stop_gradient(logits.max(axis=0)))
        return jnp.sum(precision * jnp.square(odds / odds.sum(axis=0) - mean)).astype(weights.dtype)

    return surprise


def in_box(network: Network, data: Grouped, options: Options) -> Coordinates:
    """The posterior under a prior that is flat between -BOX and BOX: logits of the place there."""
    import jax
    import jax.numpy as jnp

    surprise = likelihood(network, data, options.sigma2)
    return Coordinates(
        lambda z: surprise(BOX * jnp.tanh(z / 2)) + jnp.sum(z + 2 * jax.nn.softplus(-z)),
        lambda z: BOX * jnp.tanh(z / 2),
        lambda w: 2 * jnp.arctanh(jnp.clip(w / BOX, -0.999, 0.999)),
    )


def as_given(network: Network, data: Grouped, options: Options) -> Coordinates:
    """The posterior under N(0, PRIOR_SD^2), in weights as they are."""
    import jax.numpy as jnp

    surprise = likelihood(network, data, options.sigma2)
    return Coordinates(
        lambda w: surprise(w) + jnp.sum(jnp.square(w)) / (2 * PRIOR_SD**2),
        lambda w: w,
        lambda w: w,
    )


def whitened(network: Network, data: Grouped, options: Options, reference: Floats) -> Coordinates:
    """The posterior under N(0, PRIOR_SD^2), the output layer in standard deviations.

    With units h(x) = (sigmoid(A x + b), 1) and the reference's logits t(x), each output is taken
    for a regression of t on h with precision w(x), the mean squared slope of the softmax there
    over sigma2. With L L' = sum w h h' + I / PRIOR_SD^2, outputs are L'^-1 (z + L^-1 sum w h t).

    Args:
        reference: (P,), weights of a good fit.
    """
    import jax
    import jax.numpy as jnp

    d, h = network.k - 1, network.hidden
    x, precision, target = (jnp.asarray(a) for a in _leaders(network, data, options, reference))
    middle = x @ precision / precision.sum()
    plain = as_given(network, data, options)
    solve = jax.scipy.linalg.solve_triangular

    def regression(inner: Any, bias: Any) -> tuple[Any, Any]:
        hidden = jax.nn.sigmoid(inner @ x + bias[:, None])
        units = jnp.concatenate([hidden, jnp.ones((1, x.shape[1]))])
        gram = (units * precision) @ units.T + jnp.eye(h + 1) / PRIOR_SD**2
        root = jnp.linalg.cholesky(gram)
        return root, solve(root, (units * precision) @ target, lower=True)

    def unfold(z: Any) -> tuple[Any, Any]:
        inner = PRIOR_SD * z[: h * d].reshape(h, d)
        bias = PRIOR_SD * z[h * d : h * d + h] - inner @ middle
        root, expected = regression(inner, bias)
        outputs = solve(root, z[h * d + h :].reshape(h + 1, d) + expected, lower=True, trans=1)
        weights = [inner.ravel(), bias, outputs[:h].T.ravel(), outputs[h]]
        return jnp.concatenate(weights), root

    def potential(z: Any) -> Any:
        weights, root = unfold(z)
        return plain.potential(weights) + d * jnp.sum(jnp.log(jnp.diag(root)))

    def place_of(weights: Any) -> Any:
        inner, bias, outer, shift = network.layers(weights)
        root, expected = regression(inner, bias)
        z = root.T @ jnp.concatenate([outer.T, shift[None]]) - expected
        first = jnp.concatenate([inner.ravel(), bias + inner @ middle]) / PRIOR_SD
        return jnp.concatenate([first, z.ravel()])

    return Coordinates(potential, lambda z: unfold(z)[0], place_of)


def _leaders(
    network: Network, data: Grouped, options: Options, reference: Floats
) -> tuple[Floats, Floats, Floats]:
    """Coordinates (K - 1, R), precisions (R,) and logits (R, K - 1) of R labels for all."""
    p = network.predict(reference[None], data.human)[:, 0]
    slope = (p**2 * (1 - p) ** 2).sum(axis=1) + (p**2).sum(axis=1) ** 2 - (p**4).sum(axis=1)
    weight = data.count * (slope / (network.k - 1) / options.sigma2 + 1e-12)
    coordinates = Simplex(network.k).down(data.human)
    chosen = coordinates[spread(coordinates, _LEADERS, int(weight.argmax()))]
    leader = nearest(coordinates, chosen)
    precision: Floats = np.bincount(leader, weight, len(chosen)).astype(np.float64)
    target = np.zeros_like(chosen)
    np.add.at(target, leader, weight[:, None] * network.outputs(reference, coordinates))
    middle = np.zeros_like(chosen)
    np.add.at(middle, leader, weight[:, None] * coordinates)
    return (middle / precision[:, None]).T, precision, target / precision[:, None]
