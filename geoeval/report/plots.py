"""The plots of a task's summaries: parts with their intervals, confusion matrices, the refusal trade-off."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from geoeval.benchmarks import get_benchmark
from geoeval.benchmarks.lithobench import LEVELS
from geoeval.report.figures import Plot, legend, new_axes, numbered
from geoeval.report.lines import SMALL, Entry, item_metric, top
from geoeval.report.palette import LIGHT, series
from geoeval.report.text import clipped, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def strata_bars(task: Sequence[Entry], stratum: str) -> Plot | None:
    """The headline of every part of a breakdown, with its interval; None where no part has it."""
    first = task[0].result
    metric = _stratum_metric(task, stratum)
    parts = list(dict.fromkeys(value for entry in task for value in entry.result.summary.strata.get(stratum, {})))
    if set(parts) <= set(LEVELS):
        parts.sort(key=list(LEVELS).index)
    bars = {
        part: [(entry, found) for entry in task if (found := _find(entry, stratum, part, metric)) is not None]
        for part in parts
    }
    bars = {part: found for part, found in bars.items() if found}
    if not bars:
        return None
    small = any(found.n < SMALL for rows in bars.values() for _, found in rows)
    caption = f"{metric}, bars, with 95 % intervals, lines." + (f" † fewer than {SMALL} items." if small else "")
    return Plot(
        f"{first.task}.by_{stratum}",
        f"{metric} of {first.task} by {stratum}",
        caption,
        lambda: _bars(task, bars, metric),
    )


def _stratum_metric(task: Sequence[Entry], stratum: str) -> str:
    wanted = item_metric(get_benchmark(task[0].result.task), task[0].headline)
    parts = task[0].result.summary.strata.get(stratum, {})
    names = [metric.name for metrics in parts.values() for metric in metrics]
    return wanted if wanted in names or not names else names[0]


def _find(entry: Entry, stratum: str, part: str, name: str) -> Any:
    metrics = entry.result.summary.strata.get(stratum, {}).get(part, ())
    return next((m for m in metrics if m.name == name and not math.isnan(m.value)), None)


def _bars(task: Sequence[Entry], bars: Mapping[str, Sequence[tuple[Entry, Any]]], metric: str) -> Figure:
    many = len(task) > 1
    rows: list[tuple[float, Entry, Any]] = []
    labels: list[tuple[float, str, bool]] = []
    y = 0.0
    for part, found in bars.items():
        ns = {m.n for _, m in found}
        n = f"n={min(ns):,}" if len(ns) == 1 else f"n={min(ns):,}–{max(ns):,}"
        label = f"{_short(part)}  {n}{' †' if min(ns) < SMALL else ''}"
        if many:
            labels.append((y, label, True))
            y += 0.85
        for entry, value in found:
            labels.append((y, str(entry.key) if many else label, False))
            rows.append((y, entry, value))
            y += 0.8 if many else 1
        y += 0.35 if many else 0
    figure, axes = new_axes(0.55 + 0.17 * y + 0.16 * (len(task) if many else 0))
    high = top(metric)
    for y_, entry, value in rows:
        axes.barh(y_, value.value, height=0.62, color=LIGHT[series(entry.key)], alpha=0.55, linewidth=0)
        if not math.isnan(value.low):
            axes.plot([value.low, value.high], [y_, y_], color=LIGHT["ink"], linewidth=1, solid_capstyle="butt")
        axes.annotate(
            f"{value.value:.2f}",
            (max(value.value, value.high if not math.isnan(value.high) else 0), y_),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=6.5,
        )
    axes.set_xlim(0, high * 1.1)
    axes.set_xticks([high * k / 4 for k in range(5)])
    axes.set_ylim(y - 0.4, -0.7)
    ticks = [(y_, text) for y_, text, heading in labels if not heading]
    axes.set_yticks([y_ for y_, _ in ticks], [text for _, text in ticks])
    for y_, text, heading in labels:
        if heading:
            axes.text(high * 0.005, y_, text, va="center", fontweight="bold", fontsize=7.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(metric)
    if many:
        legend(figure, task)
    return figure


def confusion(entry: Entry) -> Plot | None:
    """Gold label against read label, shaded by the share of the row; None where there is none."""
    table = entry.result.summary.confusion
    if not table:
        return None
    task = entry.result.task
    return Plot(
        f"{task}.confusion.{entry.key}",
        f"{task}, model {entry.key}, {plain(entry.label)}: gold label by read label",
        "Rows: gold label; columns: what was read; numbers: items; shade: share of the row.",
        lambda: _confusion(table),
    )


def _confusion(table: Mapping[str, Mapping[str, int]]) -> Figure:
    from matplotlib.patches import Rectangle

    rows = list(table)
    columns = list(dict.fromkeys(column for counts in table.values() for column in counts))
    figure, axes = new_axes(1.15 + 0.26 * len(rows))
    for y, row in enumerate(rows):
        total = sum(table[row].values())
        for x, column in enumerate(columns):
            count = table[row].get(column, 0)
            share = count / total if total else 0
            patch = Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=LIGHT["s1"], alpha=0.55 * share, linewidth=0)
            axes.add_patch(patch)
            if row == column:
                frame = Rectangle((x - 0.47, y - 0.47), 0.94, 0.94, fill=False, edgecolor=LIGHT["muted"], linewidth=0.7)
                axes.add_patch(frame)
            if count:
                axes.text(x, y, str(count), ha="center", va="center", fontsize=7)
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    slanted = max(map(len, rows)) > 3
    axes.set_xticks(range(len(columns)), [_short(c) for c in columns], rotation=40 if slanted else 0)
    if slanted:
        for label in axes.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(rows)), [_short(row) for row in rows])
    axes.tick_params(length=0, labelsize=7)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("read")
    axes.set_ylabel("gold")
    return figure


def _short(label: str) -> str:
    """A label in its shortest form: verdicts without what all refusals share."""
    for shared in ("REFUSE_", "_IN_QUERY", "_QUERY", "_IN_CONTEXT"):
        label = label.replace(shared, "")
    return clipped(label.replace("_", " ").lower() if label.isupper() and len(label) > 3 else label, 24)


def trade_off(task: Sequence[Entry]) -> Plot | None:
    """False against missed refusals; None for a task without refusals."""
    points = [(entry, _rate(entry, "false_refusal_rate"), _rate(entry, "missed_refusal_rate")) for entry in task]
    points = [(entry, x, y) for entry, x, y in points if x and y]
    if not points:
        return None
    name = task[0].result.task
    return Plot(
        f"{name}.trade_off",
        f"Refusal trade-off of {name}: false refusals against missed refusals",
        "Near the lower left is better. Answering everything and refusing everything are the two ends of the dashed "
        "line, on which refusing at random lies.",
        lambda: _trade_off(points, task),
    )


def _rate(entry: Entry, name: str) -> Any:
    return next((m for m in entry.result.summary.metrics if m.name == name and not math.isnan(m.value)), None)


def _trade_off(points: Sequence[tuple[Entry, Any, Any]], task: Sequence[Entry]) -> Figure:
    figure, axes = new_axes(3.3 + 0.16 * len(task))
    axes.plot([0, 1], [1, 0], color=LIGHT["muted"], linewidth=0.7, dashes=(4, 3))
    ends = (((0, 1), "always answer", (5, 1), "left"), ((1, 0), "always refuse", (-3, 6), "right"))
    for (x, y), text, offset, side in ends:
        axes.plot(x, y, "D", markersize=5, color=LIGHT["muted"], clip_on=False)
        axes.annotate(text, (x, y), xytext=offset, textcoords="offset points", fontsize=7, ha=side)
    for entry, x, y in points:
        colour = LIGHT[series(entry.key)]
        if not math.isnan(x.low):
            axes.plot([x.low, x.high], [y.value, y.value], color=colour, linewidth=1)
        if not math.isnan(y.low):
            axes.plot([x.value, x.value], [y.low, y.high], color=colour, linewidth=1)
        numbered(axes, x.value, y.value, entry.key)
    axes.set_xlim(-0.05, 1.05)
    axes.set_ylim(-0.05, 1.05)
    axes.set_aspect("equal")
    axes.set_xlabel("false refusal rate (answerable, refused)")
    axes.set_ylabel("missed refusal rate (to refuse, answered)")
    legend(figure, task)
    return figure


def plots_of(task: Sequence[Entry], scored: Sequence[Mapping[str, Any]]) -> Iterator[Plot]:
    """Every plot of one task.

    Args:
        task: Its results.
        scored: For each of them, id -> score and reply.
    """
    from geoeval.report.scatter import agreement_plots, length_plot

    summary = task[0].result.summary
    found = [trade_off(task), *(strata_bars(task, stratum) for stratum in summary.strata)]
    found += [length_plot(task, scored), *agreement_plots(task, scored), *(confusion(entry) for entry in task)]
    yield from (plot for plot in found if plot is not None)
