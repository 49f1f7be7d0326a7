"""Three Earth-observation and manufacturing benchmarks for multimodal models, in the harnesses people already run."""

__version__ = "0.1.0"
