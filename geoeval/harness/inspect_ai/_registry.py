"""What inspect-ai finds under ``geoeval/``; an error here would only be a warning in its log (0.3.285)."""

from geoeval.harness.inspect_ai.metrics import groups, intervals, numbers
from geoeval.harness.inspect_ai.scorers import SCORERS
from geoeval.harness.inspect_ai.tasks import TASKS

__all__ = ["SCORERS", "TASKS", "groups", "intervals", "numbers"]
