"""The plan file: read, checked, and drafted from a predictions file."""

from worker.plan.hashing import canonical_json, plan_hash, without_folders
from worker.plan.model import Plan, load_plan, stored_plan

__all__ = ["Plan", "canonical_json", "load_plan", "plan_hash", "stored_plan", "without_folders"]
