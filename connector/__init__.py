"""Everything that talks to Label Studio; it never imports `worker`."""
