"""Bayesian evaluators of subjective tasks: what predictions follow, given the human label."""
