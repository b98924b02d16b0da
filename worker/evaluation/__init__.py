"""Experiments with subjective tasks: votes and predictions, read and joined for evaluators."""
