"""What needs no model, on the very items of a run: guessing, the best constant answer, never refusing.

All are exact: items that are marked alike are counted, and each kind is marked once by the benchmark's own rule.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from math import fsum, nan
from typing import Any

from geoeval.benchmarks import Benchmark
from geoeval.benchmarks.georefusal import ANSWER
from geoeval.types import Extraction, Item, Metric

Kind = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""Accepted answers, choices, and the parts that `Benchmark.part_means` are taken over: all that marks can depend on."""
_OF_THE_READING = ("parse_rate", "strict_json_rate", "accuracy_first_letter", "random_baseline")


def kind_of(benchmark: Benchmark, item: Item) -> Kind:
    """What items have in common that a baseline is marked alike on."""
    return item.gold, item.choices, tuple(item.strata[mean.stratum] for mean in benchmark.part_means.values())


class Baselines:
    """The baselines of a task.

    Args:
        benchmark: The task.
    """

    def __init__(self, benchmark: Benchmark) -> None:
        self._benchmark = benchmark
        self._chances: dict[Kind, float] = {}

    def chance(self, kind: Kind) -> float:
        """Probability that a guess among what is offered is right; nan for open questions."""
        if kind not in self._chances:
            offered = self._offered(kind)
            right = sum(answer in kind[0] for answer in offered)
            self._chances[kind] = right / len(offered) if offered else nan
        return self._chances[kind]

    def metrics(self, kinds: Mapping[Kind, int]) -> dict[str, tuple[Metric, ...]]:
        """The baselines of a set of items; empty for open questions.

        Args:
            kinds: How many items there are of each kind.

        Returns:
            ``random``: the expectation of guessing evenly, of those metrics that every answer to an item counts in.
            ``majority``: the constant answer that is right most often, the first of equals. ``always_answer``: never
            refusing. No intervals: on given items they are exact.
        """
        if not kinds or not all(map(self._offered, kinds)):
            return {}
        found = {"random": self._random(kinds)}
        labels = self._benchmark.labels
        if labels:
            votes = Counter({label: sum(n for kind, n in kinds.items() if label in kind[0]) for label in labels})
            found["majority"] = self._constant(kinds, votes.most_common(1)[0][0])
        if ANSWER in labels:
            found["always_answer"] = self._constant(kinds, ANSWER)
        return found

    def _offered(self, kind: Kind) -> tuple[str, ...]:
        return tuple(self._benchmark.answers(_item(kind)))

    def _marks(self, kind: Kind, answer: str) -> Mapping[str, float]:
        item = _item(kind)
        marks = self._benchmark.mark(item, self._benchmark.format_reply(item, answer), Extraction(answer, "baseline"))
        return {name: value for name, value in marks.items() if name not in _OF_THE_READING}

    def _random(self, kinds: Mapping[Kind, int]) -> tuple[Metric, ...]:
        sums: list[tuple[Kind, Mapping[str, float], int]] = []
        partial: set[str] = set()
        for kind, n in kinds.items():
            each = [self._marks(kind, answer) for answer in self._offered(kind)]
            always = set.intersection(*({*marks} for marks in each))
            partial |= set.union(*({*marks} for marks in each)) - always
            sums.append((kind, {name: fsum(marks[name] for marks in each) / len(each) for name in always}, n))
        return self._summed(
            [(kind, {k: v for k, v in values.items() if k not in partial}, n) for kind, values, n in sums]
        )

    def _constant(self, kinds: Mapping[Kind, int], answer: str) -> tuple[Metric, ...]:
        from geoeval.metrics.classification import confusion_cells

        metrics = self._summed([(kind, self._marks(kind, answer), n) for kind, n in kinds.items()])
        cells = confusion_cells([kind[0] for kind in kinds], [answer] * len(kinds), self._benchmark.labels)
        counts = sum(cell * n for cell, n in zip(cells, kinds.values(), strict=True))
        values: Mapping[str, Any] = self._benchmark.from_counts(counts)
        n = sum(kinds.values())
        return (*metrics, *(Metric(name, float(values[name]), n) for name in self._benchmark.composites))

    def _summed(self, marked: Iterable[tuple[Kind, Mapping[str, float], int]]) -> tuple[Metric, ...]:
        """Means over the items, in the benchmark's order of metrics."""
        benchmark = self._benchmark
        sums: dict[str, list[float]] = defaultdict(list)
        counts: Counter[str] = Counter()
        parts: dict[tuple[str, str], list[float]] = defaultdict(list)
        sizes: Counter[tuple[str, str]] = Counter()
        for kind, values, n in marked:
            for name, value in values.items():
                sums[name].append(value * n)
                counts[name] += n
            for (name, mean), part in zip(benchmark.part_means.items(), kind[2], strict=True):
                parts[name, part].append(values[mean.rate] * n)
                sizes[name, part] += n
        metrics = []
        for name in benchmark.metric_names:
            if name in benchmark.part_means:
                keys = [(name, part) for part in benchmark.part_means[name].parts]
                means = [fsum(parts[key]) / sizes[key] if sizes[key] else nan for key in keys]
                metrics.append(Metric(name, fsum(means) / len(means), sum(sizes[key] for key in keys)))
            elif name in counts:
                metrics.append(Metric(name, fsum(sums[name]) / counts[name], counts[name]))
        return tuple(metrics)


def _item(kind: Kind) -> Item:
    gold, choices, _ = kind
    return Item(id="", question="", gold=gold, cluster="", choices=choices)
