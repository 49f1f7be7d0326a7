"""Metrics of a choice among labels: accuracy, per-class tables, macro-F1, balanced accuracy, MCC and baselines.

Everything is computed from one confusion matrix ``counts[..., gold, predicted]`` of shape ``(..., K, K + 1)``, K labels
and a last column of unread replies. The same function serves the point value (no leading axis) and a bootstrap (leading
axis of resamples, see `geoeval.metrics.intervals.cluster_bootstrap`), so the two cannot drift apart::

    cells = confusion_cells(gold, predicted, labels)
    values = classification_from_counts(cells.sum(axis=0))
    intervals = cluster_bootstrap(cells, clusters, classification_from_counts)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, nan
from typing import TYPE_CHECKING, Any

from geoeval.types import ClassScores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

UNREAD = "unread"

Gold = str | Sequence[str]
"""The accepted label of an item, or all of them."""


@dataclass(frozen=True, eq=False)
class LabelSummary(Mapping[str, float]):
    """The metrics of one run by name, e.g. ``summary["accuracy"]``, with what they rest on.

    Attributes:
        scores: Metric name -> value; nan where a denominator is empty.
        n: Metric name -> size of its denominator in items.
        confusion: Gold label -> predicted label or "unread" -> count.
        classes: Label -> its scores.
    """

    scores: Mapping[str, float]
    n: Mapping[str, int]
    confusion: Mapping[str, Mapping[str, int]]
    classes: Mapping[str, ClassScores]

    def __getitem__(self, name: str) -> float:
        return self.scores[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)


def classification_summary(
    gold: Sequence[Gold],
    predicted: Sequence[str | None],
    labels: Sequence[str] | None = None,
    options: Sequence[Sequence[str]] | None = None,
) -> LabelSummary:
    """All classification metrics of one run: those of `classification_from_counts` and the two baselines.

    Args:
        gold: For each item the accepted label or labels.
        predicted: For each item the label read from the reply, None when none was (counts as wrong).
        labels: All labels, in the order of tables; by default those that occur, sorted.
        options: For each item the labels it offers; without it ``random_baseline`` is nan.

    Returns:
        See `LabelSummary`.

    Raises:
        ValueError: The lengths differ, an item has no accepted label or offers none, or a label is not in ``labels``.
    """
    names = _occurring(gold, predicted) if labels is None else tuple(labels)
    if options is not None and len(options) != len(gold):
        raise ValueError(f"{len(gold)} items but {len(options)} lists of options")
    counts = confusion_cells(gold, predicted, names).sum(axis=0)
    values = {name: float(value) for name, value in classification_from_counts(counts).items()}
    baselines = {
        "random_baseline": nan if options is None else random_baseline(options),
        "majority_baseline": majority_baseline(gold),
    }
    n = dict.fromkeys([*values, *baselines], len(gold))
    n.update((name, int(denominator)) for name, (_, denominator) in classification_rates(counts).items())
    return LabelSummary({**values, **baselines}, n, confusion_table(counts, names), class_table(counts, names))


def confusion_cells(gold: Sequence[Gold], predicted: Sequence[str | None], labels: Sequence[str]) -> NDArray[Any]:
    """Each item's cell of the confusion matrix.

    An item that accepts several labels is of the class that was predicted if that one is accepted, else of the accepted
    class that comes first in ``labels``. So a right reply is on the diagonal whichever accepted label it gives, and
    accuracy is the trace. The price: the support of a class can differ between models by the items that accept several.

    Args:
        gold: For each item the accepted label or labels.
        predicted: For each item the label read, or None.
        labels: The K labels, in the order of precedence.

    Returns:
        Shape ``(n, K, K + 1)``, one 1 in each item; the last column is "unread".

    Raises:
        ValueError: The lengths differ, an item has no accepted label, or a label is not in ``labels``. Readers give
            offered labels only, so that is a mistake of the caller, not of the model.
    """
    import numpy as np

    index = {label: position for position, label in enumerate(labels)}
    if len(index) != len(labels):
        raise ValueError(f"labels repeat: {list(labels)}")
    cells = np.zeros((len(gold), len(index), len(index) + 1))
    for item, (accepted, label) in enumerate(zip(map(_accepted, gold), predicted, strict=True)):
        unknown = {*accepted, *([] if label is None else [label])} - index.keys()
        if unknown:
            raise ValueError(f"item {item}: {sorted(unknown)} not among the labels {list(labels)}")
        row = label if label in accepted else min(accepted, key=index.__getitem__)
        cells[item, index[row], len(index) if label is None else index[label]] = 1
    return cells


def classification_from_counts(counts: ArrayLike) -> dict[str, NDArray[Any]]:
    """The metrics of any number of confusion matrices at once.

    Args:
        counts: Shape ``(..., K, K + 1)``, gold by predicted; the last column is "unread".

    Returns:
        Each of shape ``(...)``, 0-1 but ``mcc`` (-1 to 1), nan where a denominator is empty:

        * ``accuracy``: right / all; unread counts as wrong.
        * ``accuracy_valid``: right / read.
        * ``parse_rate``: read / all.
        * ``macro_f1``: mean F1 over the classes that have items, so that the data and not the model decides which
          classes count. A reply that names any other class still costs the recall of its item's class.
        * ``balanced_accuracy``: mean recall over the classes that have items.
        * ``mcc``: Matthews correlation for K classes (Gorodkin, 2004), unread being one more predicted class. 0 when
          all replies are the same (as in scikit-learn), nan when all items are of one class.
    """
    import numpy as np

    table = np.asarray(counts, dtype=float)
    scores = _class_scores(table)
    has_items = table.sum(axis=-1) > 0
    return {
        **{name: ratio(*rate) for name, rate in classification_rates(table).items()},
        "macro_f1": ratio(np.where(has_items, scores["f1"], 0).sum(axis=-1), has_items.sum(axis=-1)),
        "balanced_accuracy": ratio(np.where(has_items, scores["recall"], 0).sum(axis=-1), has_items.sum(axis=-1)),
        "mcc": _mcc(table),
    }


def class_f1_from_counts(counts: ArrayLike) -> NDArray[Any]:
    """F1 of each class, shape ``(..., K)``; nan for a class that is neither the gold one nor named anywhere."""
    import numpy as np

    return _class_scores(np.asarray(counts))["f1"]


def classification_rates(counts: ArrayLike) -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
    """Numerator and denominator, each of shape ``(...)``, of those metrics that are shares of items."""
    import numpy as np

    table = np.asarray(counts, dtype=float)
    right = np.trace(table[..., :-1], axis1=-2, axis2=-1)
    total, read = table.sum(axis=(-2, -1)), table[..., :-1].sum(axis=(-2, -1))
    return {"accuracy": (right, total), "accuracy_valid": (right, read), "parse_rate": (read, total)}


def confusion_table(counts: ArrayLike, labels: Sequence[str]) -> dict[str, dict[str, int]]:
    """One confusion matrix as gold label -> predicted label or "unread" -> count, all cells, in the order of labels."""
    import numpy as np

    columns = [*labels, UNREAD]
    rows = np.asarray(counts).tolist()
    return {label: dict(zip(columns, map(int, row), strict=True)) for label, row in zip(labels, rows, strict=True)}


def class_table(counts: ArrayLike, labels: Sequence[str]) -> dict[str, ClassScores]:
    """Precision, recall, F1 and support of each label of one confusion matrix of shape ``(K, K + 1)``."""
    import numpy as np

    table = np.asarray(counts, dtype=float)
    scores = _class_scores(table)
    support, named = table.sum(axis=1), table.sum(axis=0)
    return {
        label: ClassScores(
            precision=float(scores["precision"][k]),
            recall=float(scores["recall"][k]),
            f1=float(scores["f1"][k]),
            support=int(support[k]),
            named=int(named[k]),
        )
        for k, label in enumerate(labels)
    }


def random_baseline(options: Sequence[Sequence[str]]) -> float:
    """Accuracy of guessing evenly: the mean of 1 / number of options; nan without items.

    Raises:
        ValueError: An item offers nothing.
    """
    if not all(options):
        raise ValueError("an item offers no options")
    return fsum(1 / len(offered) for offered in options) / len(options) if options else nan


def majority_baseline(gold: Sequence[Gold]) -> float:
    """Accuracy of the best reply that never changes; nan without items."""
    votes = Counter(label for accepted in gold for label in set(_accepted(accepted)))
    return max(votes.values()) / len(gold) if votes else nan


def ratio(numerator: ArrayLike, denominator: ArrayLike) -> NDArray[Any]:
    """Quotient of two arrays, nan where the denominator is 0."""
    import numpy as np

    above, below = np.broadcast_arrays(np.asarray(numerator, dtype=float), np.asarray(denominator, dtype=float))
    quotient = np.full(above.shape, nan)
    np.divide(above, below, out=quotient, where=below != 0)
    return quotient


def _accepted(gold: Gold) -> tuple[str, ...]:
    accepted = (gold,) if isinstance(gold, str) else tuple(gold)
    if not accepted:
        raise ValueError("an item needs at least one accepted label")
    return accepted


def _occurring(gold: Sequence[Gold], predicted: Sequence[str | None]) -> tuple[str, ...]:
    accepted = {label for item in gold for label in _accepted(item)}
    return tuple(sorted(accepted | {label for label in predicted if label is not None}))


def _class_scores(table: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Precision, recall and F1 of each class, shape ``(..., K)``."""
    import numpy as np

    right = np.diagonal(table[..., :-1], axis1=-2, axis2=-1)
    support, named = table.sum(axis=-1), table[..., :-1].sum(axis=-2)
    return {
        "precision": ratio(right, named),
        "recall": ratio(right, support),
        "f1": ratio(2 * right, support + named),
    }


def _mcc(table: NDArray[Any]) -> NDArray[Any]:
    import numpy as np

    right, total = classification_rates(table)["accuracy"]
    gold, named = table.sum(axis=-1), table.sum(axis=-2)
    covariance = right * total - (gold * named[..., :-1]).sum(axis=-1)
    gold_variance = total**2 - (gold**2).sum(axis=-1)
    named_variance = total**2 - (named**2).sum(axis=-1)
    correlation = ratio(covariance, np.sqrt(gold_variance * named_variance))
    return np.where((named_variance == 0) & (gold_variance > 0), 0.0, correlation)
