"""Self-contained contributions for other projects, generated from our sources."""
