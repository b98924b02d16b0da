"""Telling the outside world what happens: an outbox in the ledger, Slack and signed webhooks."""
