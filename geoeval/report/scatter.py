"""Plots of single items: reply length against score, judge against overlap, judge against judge."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

from geoeval.report.figures import Plot, legend, new_axes, numbered
from geoeval.report.lines import Entry, item_metric, top
from geoeval.report.palette import LIGHT, series
from geoeval.report.text import plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Scored = Mapping[str, Any]

_BINS, _LEAST = 6, 10
_CELL = 0.5


def length_plot(task: Sequence[Entry], scored: Sequence[Scored]) -> Plot | None:
    """Mean value of replies of about the same length; None where there are too few."""
    from geoeval.benchmarks import get_benchmark

    benchmark = get_benchmark(task[0].result.task)
    metric = item_metric(benchmark, task[0].headline)
    rate = metric in benchmark.rates
    curves = [(e, _bins(_lengths(replies, metric), rate)) for e, replies in zip(task, scored, strict=True)]
    curves = [(entry, points) for entry, points in curves if points]
    if not curves:
        return None
    return Plot(
        f"{benchmark.name}.length",
        f"{metric} of {benchmark.name} by length of the reply",
        f"Replies of a model in up to {_BINS} groups of like length, at least {_LEAST} in each. Point: median length "
        "and mean, with its 95 % interval. Reasoning counts as length.",
        lambda: _length(curves, metric),
    )


def _lengths(replies: Scored, metric: str) -> list[tuple[int, float]]:
    return sorted(
        (len(reply), score.values[metric])
        for score, reply in replies.values()
        if reply and reply.strip() and metric in score.values
    )


def _bins(pairs: Sequence[tuple[int, float]], rate: bool) -> list[tuple[float, float, float, float]]:
    """Median length, mean and interval of runs of pairs; like lengths are never parted."""
    from statistics import fmean, median, stdev

    from geoeval.metrics.intervals import wilson

    size = max(_LEAST, math.ceil(len(pairs) / _BINS))
    points, start = [], 0
    while start < len(pairs):
        end = min(start + size, len(pairs))
        while end < len(pairs) and pairs[end][0] == pairs[end - 1][0]:
            end += 1
        if len(pairs) - end < _LEAST:
            end = len(pairs)
        values = [value for _, value in pairs[start:end]]
        mean = fmean(values)
        if rate:
            low, high = wilson(round(sum(values)), len(values))
        else:
            half = 1.959964 * stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
            low, high = mean - half, mean + half
        if len(values) >= _LEAST:
            points.append((float(median(length for length, _ in pairs[start:end])), mean, low, high))
        start = end
    return points


def _length(curves: Sequence[tuple[Entry, Any]], metric: str) -> Figure:
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

    figure, axes = new_axes(2.5 + 0.16 * len(curves))
    for entry, points in curves:
        colour = LIGHT[series(entry.key)]
        axes.plot([p[0] for p in points], [p[1] for p in points], color=colour, linewidth=1)
        for x, _, low, high in points:
            axes.plot([x, x], [low, high], color=colour, linewidth=1)
        for x, y, _, _ in points:
            numbered(axes, x, y, entry.key)
    lengths = [p[0] for _, points in curves for p in points]
    if max(lengths) > 20 * min(lengths):
        axes.set_xscale("log")
    else:
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
    axes.margins(x=0.08)
    high = top(metric)
    axes.set_ylim(-0.04 * high, 1.04 * high)
    axes.set_xlabel("length of the reply, characters")
    axes.set_ylabel(metric)
    legend(figure, [entry for entry, _ in curves])
    return figure


def agreement_plots(task: Sequence[Entry], scored: Sequence[Scored]) -> Iterator[Plot]:
    """The judge against the score without it, for each model; and two judges of one model against each other."""
    name = task[0].result.task
    judged = [(entry, _marks(replies)) for entry, replies in zip(task, scored, strict=True)]
    judged = [(entry, marks) for entry, marks in judged if marks]
    for entry, replies in zip(task, scored, strict=True):
        pairs = _pairs(_marks(replies), {id_: s.values.get("open_score") for id_, (s, _) in replies.items()})
        if pairs:
            yield Plot(
                f"{name}.judge.{entry.key}",
                f"{name}, model {entry.key}, {plain(entry.label)}: judge_score against open_score",
                f"{_rank_note(pairs)}. The larger a point, the more items. The judge's rubric is ours: how the paper "
                "marks is not published.",
                partial(_bubbles, pairs, "open_score", "judge_score"),
            )
    for (one, marks), (other, others) in combinations(judged, 2):
        pairs = _pairs(others, marks)
        if one.result.model == other.result.model and one.result.judge != other.result.judge and pairs:
            exact = sum(round(a) == round(b) for a, b in pairs)
            near = sum(abs(a - b) <= 1 for a, b in pairs)
            yield Plot(
                f"{name}.judges.{one.key}.{other.key}",
                f"{name}: marks of two judges, {one.key} and {other.key}",
                f"{_rank_note(pairs)}; the same whole mark in {exact} of {len(pairs)}, within one in {near}. "
                "On the dashed line they agree.",
                partial(_bubbles, pairs, f"judge_score, {one.key}", f"judge_score, {other.key}", diagonal=True),
            )


def _marks(replies: Scored) -> dict[str, float | None]:
    return {id_: s.judgement.score for id_, (s, _) in replies.items() if s.judgement and s.judgement.score is not None}


def _pairs(upright: Mapping[str, float | None], along: Mapping[str, float | None]) -> list[tuple[float, float]]:
    both = [(along.get(id_), upright[id_]) for id_ in sorted(upright)]
    return [(x, y) for x, y in both if x is not None and y is not None]


def _rank_note(pairs: Sequence[tuple[float, float]]) -> str:
    rho = rank_correlation([x for x, _ in pairs], [y for _, y in pairs])
    return f"Spearman's rank correlation {'n/a' if math.isnan(rho) else f'{rho:.2f}'}, n={len(pairs):,}"


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """Spearman's rho, ties at their mean rank; nan where one side is constant or there are fewer than three pairs."""
    import numpy as np

    def ranks(values: Sequence[float]) -> Any:
        _, place, counts = np.unique(np.asarray(values, dtype=float), return_inverse=True, return_counts=True)
        return (np.cumsum(counts) - (counts - 1) / 2)[place]

    first, second = ranks(one), ranks(other)
    if len(first) < 3 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return math.nan
    return float(np.corrcoef(first, second)[0, 1])


def _bubbles(pairs: Sequence[tuple[float, float]], x_name: str, y_name: str, diagonal: bool = False) -> Figure:
    """Points on a grid of half marks, their area by the number of items, so that thousands stay readable."""
    cells = Counter((round(x / _CELL) * _CELL, round(y / _CELL) * _CELL) for x, y in pairs)
    most = max(cells.values())
    figure, axes = new_axes(3.4)
    if diagonal:
        axes.plot([0, 10], [0, 10], color=LIGHT["muted"], linewidth=0.7, dashes=(4, 3))
    xs, ys = zip(*sorted(cells), strict=True)
    sizes = [10 + 90 * cells[cell] / most for cell in sorted(cells)]
    axes.scatter(xs, ys, s=sizes, color=LIGHT["s1"], alpha=0.6, linewidths=0)
    axes.set_xlim(-0.4, 10.4)
    axes.set_ylim(-0.4, 10.4)
    axes.set_aspect("equal")
    axes.set_xlabel(x_name)
    axes.set_ylabel(y_name)
    return figure
