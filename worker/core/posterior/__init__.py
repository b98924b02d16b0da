"""What is believed of the groups' values: tally and prior, and what follows from them."""
