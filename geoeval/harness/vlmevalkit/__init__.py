"""VLMEvalKit (ms-vlmeval 0.0.20 or an upstream checkout): datasets, guards, the command ``geoeval vlmevalkit``.

Only `dataset` imports the harness at import time; `plugin.register` makes our datasets known to it.
"""
