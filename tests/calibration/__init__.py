"""Every number that is published, tried on truths that do not come from our own model."""
