"""Whether enough is known, when that is asked, and what can be said if it is not."""
