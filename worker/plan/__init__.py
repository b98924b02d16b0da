"""The plan file: read, checked, and drafted from a predictions file."""

from worker.plan.model import (
    Plan,
    canonical_json,
    load_plan,
    plan_hash,
    stored_plan,
    without_folders,
)

__all__ = ["Plan", "canonical_json", "load_plan", "plan_hash", "stored_plan", "without_folders"]
