"""The metadata of a README with our results in it, changed as text.

Only the lines of our own results go and come; comments, order, quotes, line ends and results of others stay as they
are. The outcome is read again and compared: what cannot be changed so is refused, not approximated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import yaml

from geoeval.data import DataError
from geoeval.report.card.model_index import as_yaml, check_index, is_ours

KEY = "model-index"
_LINE_END = re.compile(r"\r\n|\r|\n")


def with_results(matter: str, index: Sequence[Mapping[str, Any]], line_end: str, name: str) -> str:
    """Front matter whose model index holds our results, in place of ours that were there.

    Args:
        matter: What stands between the two ``---``; may be empty.
        index: The model index of our results: one model.
        line_end: Of the lines that are added.
        name: What the README is called in messages.

    Raises:
        DataError: It is not YAML, no mapping, or cannot be changed without a change elsewhere.
    """
    text = (
        f"{matter}{line_end}" if matter else ""
    )  # a block scalar at the end reads alike with and without what follows
    data = _load(text, name)
    expected = _merged(data.get(KEY) or [], index, name)
    new = _spliced(text, data, (index, expected), line_end, name)
    after = _load(new, name, f"{name}: our results cannot be put into the front matter; nothing was changed")
    others = [{key: value for key, value in each.items() if key != KEY} for each in (data, after)]
    if repr(others[0]) != repr(others[1]) or repr(after.get(KEY)) != repr(expected):  # repr: nan equals nan
        raise DataError(f"{name}: the model-index cannot be changed without a change elsewhere; nothing was changed")
    check_index(after[KEY], name)
    return new.removesuffix(line_end)


def _load(text: str, name: str, problem: str = "") -> dict[str, Any]:
    try:
        data = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        why = " ".join(str(error).split())
        raise DataError(problem or f"{name}: the front matter is not YAML ({why}); nothing was changed") from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise DataError(
            f"{name}: the front matter is a {type(data).__name__}, not keys with values; nothing was changed"
        )
    return data


def _merged(old: Any, index: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    """The model index as it is to be, as data."""
    if not old:
        return list(index)
    check_index(old, name)
    target = _target(old, index)
    merged: list[Any] = []
    for number, model in enumerate(old):
        ours = [k for k, result in enumerate(model["results"]) if is_ours(result)]
        kept = [result for result in model["results"] if not is_ours(result)]
        if number == target:
            kept[(at := ours[0] if ours else len(kept)) : at] = index[0]["results"]
        if kept or not ours:
            merged.append({**model, "results": kept})
    return merged if target is not None else [*merged, *index]


def _target(old: Sequence[Mapping[str, Any]], index: Sequence[Mapping[str, Any]]) -> int | None:
    """Which model of an index our results belong to: the one of that name, else the only one; None if there is none."""
    named = [number for number, model in enumerate(old) if model["name"] == index[0]["name"]]
    if named:
        return named[0]
    return 0 if len(old) == 1 else None


def _spliced(
    text: str,
    data: Mapping[str, Any],
    wanted: tuple[Sequence[Mapping[str, Any]], Sequence[Any]],
    line_end: str,
    name: str,
) -> str:
    """The text with the edits made; ``wanted`` is our model index and the one that is to come out."""
    index, expected = wanted
    root: Any = yaml.compose(text, Loader=yaml.SafeLoader)
    events: Iterable[Any] = yaml.parse(text)
    indent = root.start_mark.column if root else 0
    found = [(key, value) for key, value in (root.value if root else ()) if key.value == KEY]
    if not found:
        return text + _dumped({KEY: list(expected)}, indent, line_end)
    if len(found) > 1:
        raise DataError(f"{name}: {len(found)} keys {KEY} in the front matter; leave one")
    ((key, value),) = found
    start = key.start_mark.index
    later = min((k.start_mark.index for k, _ in root.value if k.start_mark.index > start), default=len(text))
    if any(_is_reference(event) and start <= event.start_mark.index < later for event in events):
        raise DataError(f"{name}: the {KEY} uses YAML anchors or aliases; write it out first")
    end = _end(text, value)
    if _is_block(value) and all(_is_block(_results(model)) for model in value.value):
        edits = list(_edits(text, value, data[KEY], index, line_end))
    elif "#" in text[start:end]:
        raise DataError(f"{name}: the {KEY} is in flow style with comments; write it in block style first")
    else:
        edits = [(start - indent, end, _dumped({KEY: list(expected)}, indent, line_end))]
    for first, last, new in sorted(edits, reverse=True):
        text = text[:first] + new + text[last:]
    return text


def _edits(
    text: str,
    models: yaml.SequenceNode,
    old: Sequence[Mapping[str, Any]],
    index: Sequence[Mapping[str, Any]],
    line_end: str,
) -> Iterator[tuple[int, int, str]]:
    """What is replaced: start, end, new text; ours go, the new ones come where the first of ours was."""
    dashes = [token.start_mark for token in yaml.scan(text) if isinstance(token, yaml.BlockEntryToken)]
    target = _target(old, index)
    for number, (model, known) in enumerate(zip(models.value, old, strict=True)):
        results = _results(model)
        spans = [_span(text, results, item, dashes) for item in results.value]
        ours = [span for span, result in zip(spans, known["results"], strict=True) if is_ours(result)]
        if number == target:
            at = ours[0][0] if ours else spans[-1][1]
            yield at, at, _dumped(index[0]["results"], results.start_mark.column, line_end)
        elif ours and len(ours) == len(spans):
            ours = [_span(text, models, model, dashes)]
        yield from ((first, last, "") for first, last in ours)
    if target is None:
        at = _end(text, models)
        yield at, at, _dumped(list(index), models.start_mark.column, line_end)


def _results(model: yaml.MappingNode) -> yaml.Node:
    results: yaml.Node = next(value for key, value in model.value if key.value == "results")
    return results


def _is_block(node: yaml.Node) -> bool:
    return isinstance(node, yaml.SequenceNode) and not node.flow_style and bool(node.value)


def _is_reference(event: yaml.Event) -> bool:
    return getattr(event, "anchor", None) is not None


def _span(text: str, sequence: yaml.Node, item: yaml.Node, dashes: Sequence[yaml.Mark]) -> tuple[int, int]:
    """The lines of an item, from its dash on."""
    column = sequence.start_mark.column
    dash = max(mark.index for mark in dashes if mark.column == column and mark.index <= item.start_mark.index)
    return dash - column, _end(text, item)


def _end(text: str, node: yaml.Node) -> int:
    """Where the line after a node begins. Blank lines and comments that follow are not part of it."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        node = node.value[-1][1] if isinstance(node, yaml.MappingNode) else node.value[-1]
    mark = node.end_mark
    if mark.column == 0 and mark.index > node.start_mark.index:
        return int(mark.index)
    found = _LINE_END.search(text, mark.index)
    return found.end() if found else len(text)


def _dumped(value: Any, indent: int, line_end: str) -> str:
    lines = as_yaml(value).removesuffix("\n").split("\n")
    return "".join(f"{' ' * indent}{line}{line_end}" for line in lines)
