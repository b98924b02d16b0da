"""Pure numbers: no I/O, no clock, no global randomness."""
