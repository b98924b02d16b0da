"""What is asked of the groups, and how sure the answer is."""
