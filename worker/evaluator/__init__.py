"""Bayesian evaluators of subjective tasks: the law of a prediction given the human label."""
