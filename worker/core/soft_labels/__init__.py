"""How far predictions are from the votes of many people: what is known of it from some votes."""
