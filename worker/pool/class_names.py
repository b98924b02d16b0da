"""The names of the classes, as far as the plan or the names of the columns tell them."""

from worker.plan.pool_part import PoolPlan


def class_names(pool: PoolPlan) -> tuple[str, ...] | None:
    """Return the classes in order, if the plan alone tells them.

    Probability columns name their classes by what is left without the longest beginning that they
    share and that ends in "_" or ".": `p_cat`, `p_dog` are cat and dog.
    """
    if pool.classes is not None:
        return pool.classes
    if isinstance(pool.probabilities, tuple):
        return without_shared_prefix(pool.probabilities)
    return None


def without_shared_prefix(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names without the longest beginning that they share and that ends in "_" or "."."""
    first, last = min(names), max(names)  # all others lie between them, letter by letter
    n_common = next(
        (at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b),
        min(len(first), len(last)),
    )
    length = max(first.rfind("_", 0, n_common), first.rfind(".", 0, n_common)) + 1
    shorter = tuple(name[length:] for name in names)
    return shorter if all(shorter) else names
