"""Tables and records made from summaries."""
