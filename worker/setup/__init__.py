"""Beginning an assessment and moving it: drafts of plans, the start, export and import, replay."""
