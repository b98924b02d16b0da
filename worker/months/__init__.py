"""One month after the other: an assessment that goes on with another's labels."""
