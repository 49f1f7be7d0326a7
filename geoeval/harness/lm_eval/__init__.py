"""lm-evaluation-harness (lm-eval, 0.4.13 or later): task YAMLs for ``--include_path``, and what they call.

``python -m geoeval.harness.lm_eval`` prints the folder of the YAMLs. Nothing here imports lm-eval.
"""
