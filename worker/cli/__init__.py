"""The command `assay`: what it says and asks; the work is done elsewhere."""
