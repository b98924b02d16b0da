"""`make bench`: the numbers that the README quotes, as measured on this machine."""
