"""`make bench-paper`: the tables of the paper, as its own method and as Assay fill them."""
