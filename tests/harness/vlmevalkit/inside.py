"""Runs the checks of ``checks_*.py`` in VLMEvalKit's environment, with our datasets registered, and prints what failed.

    python inside.py [CHECKOUT]

A check is a function with the decorator ``check`` that raises when something is wrong. The last line is JSON, check ->
"" or what was raised; `test_inside` reads it.
"""

from __future__ import annotations

import json
import sys
import traceback
from pathlib import Path

import checking


def main():
    from geoeval.harness.vlmevalkit import plugin

    checking.RUNNER = plugin.load_runner(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
    plugin.register()
    for file in sorted(Path(__file__).parent.glob("checks_*.py")):
        __import__(file.stem)
    results = {}
    for name, function in checking.CHECKS.items():
        try:
            function()
            results[name] = ""
        except BaseException:
            results[name] = traceback.format_exc()
    print(f"RESULT {json.dumps(results)}")


if __name__ == "__main__":
    main()
