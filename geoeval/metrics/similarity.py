"""How alike two models reply: the same answers, the same mistakes, the same words.

A paper on these benchmarks reports similarities of 0.83 to 0.93 between models; how they were computed is not known
here. The measures below are ours, each with n and a 95 % interval, and do not compare with that figure.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import fsum, nan
from typing import TYPE_CHECKING, Any

from geoeval.metrics.classification import ratio
from geoeval.metrics.intervals import Interval, cluster_bootstrap, clustered_mean, clustered_rate
from geoeval.metrics.overlap import rouge_l
from geoeval.types import Metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LONGEST = 20_000


def answer_similarity(  # noqa: PLR0913 - what was asked and what both said
    a: Sequence[str | None],
    b: Sequence[str | None],
    gold: Sequence[Sequence[str]],
    clusters: Sequence[Hashable],
    *,
    offered: Sequence[int],
    labels: Sequence[str] = (),
) -> tuple[Metric, ...]:
    """Agreement of the answers of two models on the same items, over those where both were read.

    Args:
        a: For each item the answer read from the one model, or None.
        b: From the other.
        gold: For each the accepted answers.
        clusters: For each its cluster.
        offered: For each how many answers there are to choose from; 0 when unknown.
        labels: All answers there are, when these are the same for all items; needed for kappa.

    Returns:
        ``same_answer``: share of equal answers. ``same_answer_both_wrong``: the same where both are wrong; its note
        says what evenly spread mistakes would give. ``cohen_kappa`` (Cohen, 1960): agreement beyond that of two models
        that choose labels as often but independently, at most 1; only with labels.
    """
    read = [i for i, (x, y) in enumerate(zip(a, b, strict=True)) if x is not None and y is not None]
    wrong = [i for i in read if a[i] not in gold[i] and b[i] not in gold[i]]
    metrics = [
        _rate("same_answer", [float(a[i] == b[i]) for i in read], [clusters[i] for i in read]),
        _rate(
            "same_answer_both_wrong",
            [float(a[i] == b[i]) for i in wrong],
            [clusters[i] for i in wrong],
            _chance([offered[i] - len(gold[i]) for i in wrong]),
        ),
    ]
    if labels:
        metrics.append(_kappa([a[i] for i in read], [b[i] for i in read], [clusters[i] for i in read], labels))
    return tuple(metrics)


def text_similarity(a: Sequence[str], b: Sequence[str], clusters: Sequence[Hashable]) -> Metric:
    """Mean ROUGE-L F1 between the replies of two models, 0-1; the first 20,000 characters of each count.

    F1 is the same whichever is the reference. See `geoeval.metrics.overlap.rouge_l`.
    """
    values = [rouge_l(x[:_LONGEST], y[:_LONGEST]) for x, y in zip(a, b, strict=True)]
    mean = clustered_mean(values, clusters)
    return Metric("rouge_l_between_replies", mean.mean, mean.n, max(mean.low, 0.0), min(mean.high, 1.0))


def cohen_kappa(counts: NDArray[Any]) -> Mapping[str, NDArray[Any]]:
    """Cohen's kappa of tables of shape ``(..., K, K)``: ``(observed - expected) / (1 - expected)``.

    nan where only one label occurs.
    """
    import numpy as np

    total = counts.sum(axis=(-2, -1))
    observed = ratio(np.trace(counts, axis1=-2, axis2=-1), total)
    expected = ratio((counts.sum(axis=-1) * counts.sum(axis=-2)).sum(axis=-1), total**2)
    return {"kappa": ratio(observed - expected, 1 - expected)}


def _rate(name: str, values: Sequence[float], clusters: Sequence[Hashable], note: str = "") -> Metric:
    mean = fsum(values) / len(values) if values else nan
    return Metric(name, mean, len(values), *clustered_rate(values, clusters), note=note)


def _chance(wrong_answers: Sequence[int]) -> str:
    if not wrong_answers or min(wrong_answers) < 1:
        return ""
    return f"evenly spread mistakes: {fsum(1 / number for number in wrong_answers) / len(wrong_answers):.3f}"


def _kappa(
    a: Sequence[str | None], b: Sequence[str | None], clusters: Sequence[Hashable], labels: Sequence[str]
) -> Metric:
    import numpy as np

    cells = np.zeros((len(a), len(labels), len(labels)))
    index = {label: position for position, label in enumerate(labels)}
    for item, (x, y) in enumerate(zip(a, b, strict=True)):
        cells[item, index[x or ""], index[y or ""]] = 1
    value = float(cohen_kappa(cells.sum(axis=0))["kappa"]) if len(cells) else nan
    interval = cluster_bootstrap(cells, clusters, cohen_kappa)["kappa"]
    return Metric(
        "cohen_kappa", value, len(cells), *(Interval(nan, nan) if interval.low == interval.high else interval)
    )
