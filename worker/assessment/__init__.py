"""A plan at work: what follows from plan, pool and tally; what is believed, decided, chosen."""

from worker.assessment.assessment import Assessment
from worker.assessment.opening import assess, pool_of, reopen

__all__ = ["Assessment", "assess", "pool_of", "reopen"]
