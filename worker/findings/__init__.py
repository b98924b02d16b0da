"""What is found, and how sure it is: the register of all that is published, and what holds it."""
