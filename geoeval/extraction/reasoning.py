"""What a reader of the reply sees: the reply without the model's reasoning."""

from __future__ import annotations

import re

from geoeval.extraction.text import has_any

_NAME = (
    r"(?:(?:inner|internal|chain_of)_)?(?:(?:re)?think(?:ing)?|thoughts?|analysis|reason(?:ing)?|reflect(?:ion)?"
    r"|rationale|monologue|scratch_?pad|deliberation|cot)(?:_process)?"
)
# One bracket kind may close another: models mix them. "[Analysis]" is a heading, so only [THINK] counts there.
_TAG = re.compile(
    r"(?:<[|｜]?|&lt;|◁|\[(?=/?(?-i:THINK)))\s?"
    r"(?P<mark>/|(?:begin|start|end)[_▁](?:of[_▁])?)?\s?(?:[a-z]\w{0,15}:)?"
    rf"(?P<name>{_NAME})(?P<tail>[_▁](?:start|begin|end))?(?:\s[^<>]{{0,200}})?(?:[|｜]?>|&gt;|▷|\])"
    r"|(?P<gemma_open><unused94>thought|<\|channel>thought)|(?P<gemma_close><unused95>|<channel\|>)",
    re.IGNORECASE,
)
# Cheap signs without which `_TAG` cannot match; most replies have none, and runs of "<" would cost it a second.
_OPENERS = ("<", "&lt;", "◁", "THINK")
_NAME_PARTS = (
    *("think", "thought", "analysis", "reason", "reflect", "rationale", "monologue", "scratch", "deliberat", "cot"),
    *("<unused9", "channel"),
)
_CHANNEL = "<|channel|>"
_FINAL = re.compile(
    r"<\|channel\|>\s*final\b[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>(.*?)(?=<\|(?:end|return|start|channel|call)\|>|\Z)",
    re.DOTALL,
)
# The same channels after a decoder dropped the special tokens: "analysisWe need ... assistantfinalAnswer: B".
_BARE_ANALYSIS = re.compile(r"analysis(?=[A-Z{])")
_BARE_FINAL = "assistantfinal"


def strip_reasoning(reply: str) -> str:
    """The part of a reply that is meant for the reader.

    A closed reasoning part (``<think>...</think>`` and its kin) is removed, an unclosed one leaves nothing of what
    follows it, and a lone closing tag removes what precedes it (the opening tag was in the prompt). Of replies in
    channels only the final channel stays.

    Args:
        reply: The model's reply, of any length.

    Returns:
        The visible text without surrounding white space; "" when nothing is left. Takes linear time.
    """
    return _outside_tags(_final_channel(reply)).strip()


def _final_channel(reply: str) -> str:
    if "<" in reply and _CHANNEL in reply:
        return "\n".join(_FINAL.findall(reply))
    begin = reply.lstrip()
    if begin[:1] == "a" and _BARE_ANALYSIS.match(begin):
        return reply.rpartition(_BARE_FINAL)[2] if _BARE_FINAL in reply else ""
    return reply


def _outside_tags(text: str) -> str:
    if not has_any(text, _OPENERS) or not has_any(text.lower(), _NAME_PARTS):
        return text
    visible: list[str] = []
    position = 0
    inside: str | None = None
    for tag in _TAG.finditer(text):
        family, closing = _kind(tag)
        if closing and inside is None:  # A lone closing tag, or the outer one of nested parts.
            visible.clear()
        elif closing and family == inside:
            inside = None
        elif not closing and inside is None:
            visible.append(text[position : tag.start()])
            inside = family
        else:
            continue
        position = tag.end()
    if inside is None:
        visible.append(text[position:])
    return "".join(visible)


def _kind(tag: re.Match[str]) -> tuple[str, bool]:
    """Which tag it is, spellings of "think" taken together, and whether it closes."""
    if tag["name"] is None:
        return "think", tag["gemma_close"] is not None
    name = tag["name"].lower()
    closing = (tag["mark"] or "").lower().startswith(("/", "end")) or (tag["tail"] or "").lower().endswith("end")
    return ("think" if "think" in name or "thought" in name else name), closing
