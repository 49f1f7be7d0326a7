"""The three benchmarks, one module each: label space, prompt, marking rule, summary, version.

>>> get_benchmark("georefusal").version
'1-A'
"""

from geoeval.benchmarks import forge, georefusal, lithobench
from geoeval.benchmarks.base import Benchmark

__all__ = ["Benchmark", "benchmark_names", "get_benchmark"]

_BENCHMARKS: dict[str, Benchmark] = {
    benchmark.name: benchmark for benchmark in (*lithobench.TASKS, *georefusal.TASKS, *forge.TASKS)
}


def benchmark_names() -> tuple[str, ...]:
    """The task names, the same in every harness."""
    return tuple(_BENCHMARKS)


def get_benchmark(name: str) -> Benchmark:
    """The benchmark behind a task name.

    Raises:
        KeyError: There is no such task.
    """
    try:
        return _BENCHMARKS[name]
    except KeyError:
        raise KeyError(f"no benchmark {name!r}; there are {', '.join(_BENCHMARKS)}") from None
