"""What the YAMLs of this folder take from Python."""

from geoeval.harness.lmms_eval.hooks import __getattr__  # noqa: F401 - utils.<kind>_<task>
