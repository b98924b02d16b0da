"""Simulation: a labelled pool, replayed through the very core that runs live."""
