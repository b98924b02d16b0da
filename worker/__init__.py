"""Turns judgements into beliefs, decisions and the next items to label."""
