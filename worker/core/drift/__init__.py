"""Two pools, one after the other: what changed, and what earlier labels are still worth."""
