"""Several models on the same labels."""
