"""What annotators said: read from Label Studio, recorded once, and what it comes to."""
