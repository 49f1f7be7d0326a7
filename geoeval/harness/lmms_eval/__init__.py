"""lmms-eval (0.7.3 or later): registration, adapter, baseline model, command line, saved results.

Nothing here imports lmms-eval at import time except `baseline`, which the harness itself loads.
"""
