"""What lies before the annotators: choosing, claiming, importing, withdrawing."""
