import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "harness"))  # parity, environments, vlmevalkit_runs, inspect_runs
sys.path.insert(0, str(Path(__file__).parents[1] / "harness" / "vlmevalkit"))
sys.path.insert(0, str(Path(__file__).parents[1] / "harness" / "inspect_ai"))
