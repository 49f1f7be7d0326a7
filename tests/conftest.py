"""No test reaches a network or the user's cache: without GEOEVAL_DATA a task would fetch a release."""

import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
# Where the tests of several folders find what they share.
sys.path[:0] = [
    str(HERE / name) for name in ("harness", "harness/inspect_ai", "harness/lm_eval", "harness/vlmevalkit", "judge")
]

_CACHE = tempfile.TemporaryDirectory(prefix="geoeval-tests-")

os.environ.update(HF_HUB_OFFLINE="1", GEOEVAL_CACHE=_CACHE.name)
for name in ("GEOEVAL_DATA", "HF_TOKEN", "HF_ENDPOINT", "GEOEVAL_LITHOBENCH_REPO"):
    os.environ.pop(name, None)
