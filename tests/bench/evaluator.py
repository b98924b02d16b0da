"""The evaluators of subjective tasks themselves: sampling the network, and the truncated normal."""

import resource
import time

import numpy as np

from tests.bench.measuring import line, say
from tests.bench.paper.data import folder
from tests.bench.subjective import pool
from worker.evaluator.bnn import diagnose
from worker.evaluator.contract import EVALUATORS, Options
from worker.evaluator.grouping import grouped
from worker.evaluator.hmc import run_chains
from worker.evaluator.network import Network

K, N_ITEMS, N_DRAWS = 20, 1_000, 1_000
MODEL = "resnet110"


def run() -> None:
    """Print all numbers."""
    truncated_normals()
    if not (folder() / "cifar10h").exists():
        say("\nThe network: CIFAR-10H is not part of the project; set ASSAY_PAPER_DATA")
        return
    network()


def truncated_normals() -> None:
    """Both distributions of the differences, for ages in bins and for labels near the vertices."""
    say(f"\nNDoD: {N_ITEMS:,} items of {K} classes, {N_DRAWS:,} draws each")
    for what, (human, predicted) in {"ages": ages(), "sure people": sure_people()}.items():
        for name in ("ndod", "zero-mean-ndod"):
            found = EVALUATORS[name](human, predicted, options=Options(), seed=1)
            began = time.perf_counter()
            found.sample(human[:N_ITEMS], N_DRAWS, np.random.default_rng(1))
            line(f"{name}, {what}", f"{time.perf_counter() - began:.1f} s", "<= 60 s")


def network() -> None:
    """Time, memory and convergence of the network's chains with the usual options."""
    cases, options = pool(), Options()
    human, predicted = cases.human, cases.predicted[MODEL][:, None]
    shape, data = Network(human.shape[1], human.shape[1] - 1), grouped(human, predicted)
    n_labels = data.human.shape[0]
    say(
        f"\nThe network: {MODEL} on CIFAR-10H, {human.shape[0]:,} items with {n_labels:,} distinct "
        f"labels, {options.chains} chains of {options.warmup} + {options.draws}"
    )
    began, cpu = time.perf_counter(), time.process_time()
    found = diagnose(shape, data, run_chains(shape, data, options, 1), options)
    line("time", f"{time.perf_counter() - began:.0f} s", "<= 600 s")
    line("processor time, of all cores", f"{time.process_time() - cpu:.0f} s", "")
    line("R-hat, largest", f"{found.r_hat:.3f}", "<= 1.05")
    line("effective sample size, smallest", f"{found.ess:.0f}", ">= 200")
    line("divergent", f"{found.divergent:.2%}", "")
    line("leapfrog steps a draw", f"{found.leapfrogs:.0f}", "")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    line("largest memory of the process", f"{peak:.2f} GB", "<= 4 GB")


def ages(n_items: int = 7_000) -> tuple[np.ndarray, np.ndarray]:
    """Made-up ages in 20 bins: 38 people's guesses, and a predictor that is off by a bin or so."""
    rng = np.random.default_rng(1)
    age, middle = rng.uniform(0, K, n_items), np.arange(K) + 0.5
    guesses = np.clip(rng.normal(age[:, None], 1.2, (n_items, 38)), 0, K - 0.01).astype(int)
    human = (guesses[:, :, None] == np.arange(K)).mean(axis=1)
    centre, width = age + rng.normal(0, 1, n_items), rng.uniform(0.7, 2, n_items)
    predicted = np.exp(-(((middle - centre[:, None]) / width[:, None]) ** 2) / 2)
    return human, predicted / predicted.sum(axis=1, keepdims=True)


def sure_people(n_items: int = 2_000) -> tuple[np.ndarray, np.ndarray]:
    """Labels at the vertices, half of the predictions anywhere."""
    rng = np.random.default_rng(2)
    human = np.eye(K)[rng.integers(0, K, n_items)]
    anywhere = rng.dirichlet(np.ones(K), n_items)
    share = rng.integers(0, 2, n_items)[:, None] * 0.5
    return human, (1 - share) * human + share * anywhere
