"""No test reaches a network or the user's cache: without GEOEVAL_DATA a task would fetch a release."""

import os
import tempfile

_CACHE = tempfile.TemporaryDirectory(prefix="geoeval-tests-")

os.environ.update(HF_HUB_OFFLINE="1", GEOEVAL_CACHE=_CACHE.name)
for name in ("GEOEVAL_DATA", "HF_TOKEN", "HF_ENDPOINT", "GEOEVAL_LITHOBENCH_REPO"):
    os.environ.pop(name, None)
