"""inspect-ai: tasks, scorer and metrics, found through its entry point."""
