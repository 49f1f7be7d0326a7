"""``python -m geoeval.harness.lmms_eval``: the script ``lmms_eval`` for launchers that want a module."""

from geoeval.harness.lmms_eval.cli import main

if __name__ == "__main__":
    main()
