"""Several annotators for an item: its class, their quality and their agreement."""
