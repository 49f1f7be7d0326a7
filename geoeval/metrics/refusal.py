"""Metrics of knowing when not to answer: one label that answers, the others are reasons to refuse.

Names and formulas follow RefusalBench (arXiv 2510.10390). All are computed from one confusion matrix, like those of
`geoeval.metrics.classification`, and bootstrap the same way::

    cells = confusion_cells(gold, predicted, VERDICTS)
    intervals = cluster_bootstrap(cells, clusters, refusal_from_counts)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from geoeval.extraction.verdict import VERDICTS
from geoeval.metrics.classification import (
    Gold,
    LabelSummary,
    class_table,
    classification_from_counts,
    classification_rates,
    confusion_cells,
    confusion_table,
    ratio,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def refusal_summary(
    gold: Sequence[Gold], predicted: Sequence[str | None], labels: Sequence[str] = VERDICTS
) -> LabelSummary:
    """All refusal metrics of one run: those of `refusal_from_counts`.

    Args:
        gold: For each item the accepted verdict or verdicts. See `confusion_cells` for items that accept several.
        predicted: For each item the verdict read from the reply. None when none was: wrong, and neither an answer nor a
            refusal.
        labels: The label that answers, then the refusals in their order of precedence.

    Returns:
        See `LabelSummary`.

    Raises:
        ValueError: The lengths differ, an item has no accepted verdict, or a verdict is not in ``labels``.
    """
    counts = confusion_cells(gold, predicted, labels).sum(axis=0)
    values = {name: float(value) for name, value in refusal_from_counts(counts).items()}
    n = dict.fromkeys(values, len(gold))
    n.update((name, int(denominator)) for name, (_, denominator) in refusal_rates(counts).items())
    return LabelSummary(values, n, confusion_table(counts, labels), class_table(counts, labels))


def refusal_from_counts(counts: ArrayLike) -> dict[str, NDArray[Any]]:
    """The metrics of any number of confusion matrices at once.

    Args:
        counts: Shape ``(..., K, K + 1)``, gold by predicted. Row and column 0 are the label that answers, the others
            refuse, the last column is "unread".

    Returns:
        Each of shape ``(...)``, 0-1 but ``mcc``, nan where a denominator is empty. Answerable are the items of row 0,
        unanswerable all others.

        * ``accuracy``, ``accuracy_valid``, ``parse_rate``, ``macro_f1``, ``balanced_accuracy``, ``mcc``: over all K
          verdicts, see `classification_from_counts`.
        * ``answer_accuracy``: answered / answerable.
        * ``refusal_accuracy``: right refusal / unanswerable.
        * ``false_refusal_rate``: refused / answerable.
        * ``missed_refusal_rate``: answered / unanswerable.
        * ``detection_precision``: unanswerable / refused, whatever the reason given.
        * ``detection_recall``: refused / unanswerable, whatever the reason given.
        * ``detection_f1``: harmonic mean of the two. It can be gamed: refusing everything has a recall of 1.
        * ``category_accuracy``: right refusal / (unanswerable and refused).
        * ``hierarchical``: ``detection_f1 * category_accuracy``.
        * ``crs``: calibrated refusal score, ``0.5 * answer_accuracy + 0.5 * refusal_accuracy``.
    """
    rates = refusal_rates(counts)
    (refused_well, refused), (_, unanswerable) = rates["detection_precision"], rates["detection_recall"]
    values = {**classification_from_counts(counts), **{name: ratio(*rate) for name, rate in rates.items()}}
    detection_f1 = ratio(2 * refused_well, refused + unanswerable)
    return {
        **values,
        "detection_f1": detection_f1,
        "hierarchical": detection_f1 * values["category_accuracy"],
        "crs": 0.5 * values["answer_accuracy"] + 0.5 * values["refusal_accuracy"],
    }


def refusal_rates(counts: ArrayLike) -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
    """Numerator and denominator, each of shape ``(...)``, of those metrics that are shares of items."""
    import numpy as np

    table = np.asarray(counts, dtype=float)
    answerable = table[..., 0, :].sum(axis=-1)
    unanswerable = table[..., 1:, :].sum(axis=(-2, -1))
    refused_wrongly = table[..., 0, 1:-1].sum(axis=-1)
    refused_well = table[..., 1:, 1:-1].sum(axis=(-2, -1))  # for whatever reason
    right_refusal = np.trace(table[..., 1:, 1:-1], axis1=-2, axis2=-1)
    return {
        **classification_rates(table),
        "answer_accuracy": (table[..., 0, 0], answerable),
        "refusal_accuracy": (right_refusal, unanswerable),
        "false_refusal_rate": (refused_wrongly, answerable),
        "missed_refusal_rate": (table[..., 1:, 0].sum(axis=-1), unanswerable),
        "detection_precision": (refused_well, refused_well + refused_wrongly),
        "detection_recall": (refused_well, unanswerable),
        "category_accuracy": (right_refusal, refused_well),
    }
