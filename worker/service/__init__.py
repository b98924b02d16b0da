"""The processes and what they hold: servers, settings, connections, logs."""
