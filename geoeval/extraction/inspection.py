"""Read the two-part reply of FORGE SURFINSP: is the part normal, and if not, which of four defects has it?"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from geoeval.extraction.json_objects import Pairs, find_objects
from geoeval.extraction.reasoning import strip_reasoning
from geoeval.types import Extraction


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.MULTILINE)


_NAMES = _words(r"\b(?:(?P<A>crack(?:s|ed|ing)?)|(?P<B>cuts?|cutting)|(?P<C>deform\w*)|(?P<D>dent(?:s|ed)?))\b")
_DEFECT = r"(?:defect\w*|crack\w*|cuts?|deform\w*|dent(?:s|ed)?|damage\w*|anomal\w+|abnormal\w+|flaws?)\b"
_CHINESE = tuple(
    (re.compile(chinese), english)
    for chinese, english in (
        ("第[一1]部分|部分[一1]", " Part 1: "),
        ("第[二2]部分|部分[二2]", " Part 2: "),
        ("[不非]正常|异常", " not normal "),
        ("正常", " normal "),
        ("(?:没有|未发现|未见|无)(?:任何|明显)*", " no "),
        ("不是|否", " No, "),
        (r"(?<![^\s:.,;(])是", " Yes, "),
        ("(?:存在|有)(?=.{0,12}?(?:缺陷|裂|切|割|变形|凹))", " there is "),
        ("缺陷", " defect "),
        ("裂[纹缝痕]", " crack "),
        ("切[口割痕伤]|割[痕伤]", " cut "),
        ("变形", " deformation "),
        ("凹[痕陷坑]|压痕", " dent "),
        ("。", ". "),
    )
)
# Text that asks or lists instead of answering, markup, and names of views.
_NOISE = _words(
    r"\(?A\W{0,3}Crack\W{1,4}(?:or )?\(?B\W{0,3}Cut\W{1,4}(?:or )?\(?C\W{0,3}Deformation\W{1,4}(?:(?:and|or) )?\(?D\W{0,3}Dent\b"
    r"|\(yes ?/ ?no\)|\b(?:is|are) (?:it|this|the \w{1,20}) normal ?\?|\bn ?/ ?a\b|\bn\.a\.|\bwhether\b[^.;:\n]{0,200}"
    r"|\b(?:front|side|top|left|right|view|image|panel|figure)(?: view)? ?[1-9]? ?(?::|=| [-–—])"
    r"|</?\w{1,20}>|\\(?:boxed|text\w{0,4}|math\w{2})\b|[*_`${}\"“”]"
)
_PART = _words(
    r"\b(?:part|question) ?(?P<part>[12]|one|two|ii?)\b ?[:.)=–—-]{0,2}|(?:^|(?<=[\s.;,]))\(?(?P<number>[12]) ?[).:](?!\d)"
    r"|^[ \t-]{0,4}(?:(?P<normal>(?:is )?normal)|(?:defect )?type|defect) ?[:=]"
)
_CORRECTION = _words(
    r"\b(?:wait|actually|correction|corrected|on (?:second thought|reflection|closer)|revised|let me (?:re)?check"
    r"|(?:final )?answer(?: is)? ?:)"
)
_REASON = _words(r"\b(?:reason\w*|because|explanation|justification|rationale|since|whereas|note)\b")
_YES_NO = _words(
    r"(?:^|(?<=[.;:,!]))[\s(>-]{0,5}(?P<word>yes|no)\b(?=\s*(?:[^\w\s]|\n|\Z|(?:the|it|there|this|that|i|part|[a-d])\b))"
)
_NEGATED = _words(
    r"(?:\bnor?[ \t]+(?!(?:the|it|there|this|that|i|part|[a-d])\b)|\b(?:not|without|neither|free (?:of|from)|unlike"
    r"|rather than|instead of)\b|n't\b)(?:(?!\bbut\b)[^.;:\n]){0,200}"
)
_ABNORMAL = _words(
    r"\b(?:not|isn't) (?:\w{1,20} ){0,2}normal\b|(?<!no )\babnormal\b|(?<!not )\b(?:defective|damaged|faulty)\b"
    rf"|\b(?:there(?: is|'s| are)|has|have|shows?|see|contains?|exhibits?)\b (?:(?!no\b)\w{{1,20}} ){{0,4}}{_DEFECT}"
    rf"|\b{_DEFECT} (?:is|are|was|can be|visible|present|found|detected)\b"
)
_NORMAL = _words(
    rf"\b(?:no|not|without|free (?:of|from)) (?:\w{{1,20}} ){{0,3}}{_DEFECT}|\bnormal\b|\b(?:defect|damage)-free\b|\bintact\b"
)
_UNSURE = _words(
    r"\b(?:cannot|can't|can not|unable|not (?:sure|certain|possible)|unclear|impossible|too \w{1,20} to|do(?:n't| not) know)\b"
)
# "A" and "I" as words are no letters, so a letter needs a bracket, a mark or an end after it, or a word that announces it.
_LETTER = re.compile(
    r"(?:(?<![\w'])\(?|\b(?:[Oo]ption|[Tt]ype|[Ss]elect|[Aa]nswer|is)\s)(?P<upper>[A-Z])(?!['\w])(?=\s*(?:[^\w\s]|\n|\Z|(?:and|or)\s\(?[A-Z]\b))"
    r"|(?:\((?P<lower>[a-z])\)|(?<![\w'])(?P<mark>[a-z])\)|\A\W*(?P<alone>[a-z])\W*\Z)"
)


def extract_inspection(reply: str) -> Extraction:
    """Read whether the part is normal and, if not, its defect.

    The last complete statement stands, a letter stands against a name, and reasoning does not count.

    Args:
        reply: The model's reply, of any length.

    Returns:
        ``value`` is "NORMAL", "A" (crack), "B" (cut), "C" (deformation), "D" (dent) or None. ``method`` is "json", "parts"
        (labelled parts) or "statement"; ``reason`` is "empty", "only_reasoning", "no_type", "several_types", "not_offered",
        "contradiction" or "no_declaration". Takes linear time.
    """
    visible = strip_reasoning(reply)
    if not visible:
        return Extraction(None, "none", "only_reasoning" if reply.strip() else "empty")
    members = _json_lines(visible)
    text = unicodedata.normalize("NFKC", members or visible).replace("’", "'")
    if not text.isascii():
        for chinese, english in _CHINESE:
            text = chinese.sub(english, text)
    text = _NOISE.sub(" ", text)
    reason = "no_declaration"
    for block in reversed(_blocks(text)):
        value, reason = _read_block(block)
        if value:
            return Extraction(value, "json" if members else "parts" if _PART.search(block) else "statement")
        if reason != "no_declaration":
            break
    return Extraction(None, "none", reason)


def _json_lines(text: str) -> str:
    """The members of the last object as lines "Part 1: ..." and "Part 2: ..."; "" when there is no object."""
    lines: list[str] = []
    for value, _ in find_objects(text):
        if isinstance(value, Pairs):
            lines = [_json_line(key.lower(), member) for key, member in value]
    return "\n".join(line for line in lines if line)


def _json_line(key: str, value: Any) -> str:
    if isinstance(value, Pairs):
        return "\n".join(_json_line(inner.lower(), member) for inner, member in value)
    word = {True: "Yes", False: "No", "true": "Yes", "false": "No", None: ""}.get(value, str(value))
    if re.search(r"reason|explan|justif|analysis|thought|confidence", key):
        return ""
    if re.search(r"has_?defect|is_?defective|abnormal", key) and word in ("Yes", "No"):
        return "Part 1: " + ("No" if word == "Yes" else "Yes")
    return ("Part 2: " if re.search("2|two|type|defect", key) else "Part 1: " if re.search("1|one|normal", key) else "") + word


def _blocks(text: str) -> list[str]:
    """The text cut before each "Part 1" and each word of correction: every piece may be a complete answer."""
    starts = [match.start() for match in _PART.finditer(text) if _is_first(match)]
    starts += [match.start() for match in _CORRECTION.finditer(text)]
    cuts = [0, *sorted(starts), len(text)]
    return [text[start:end] for start, end in zip(cuts, cuts[1:], strict=False) if text[start:end].strip()]


def _is_first(label: re.Match[str]) -> bool:
    return bool(label["normal"]) or (label["part"] or label["number"] or "").lower() in ("1", "one", "i")


def _read_block(block: str) -> tuple[str | None, str]:
    parts: dict[bool, str] = {}
    labels = list(_PART.finditer(block))
    for label, following in zip(labels, [*labels[1:], None], strict=False):
        content = block[label.end() : following.start() if following else len(block)].strip()
        parts[_is_first(label)] = content.split("\n")[0]
    if labels:
        first, second = parts.get(True, ""), parts.get(False, "")
        if False not in parts:
            second = first
    else:
        first = second = _REASON.split(block, maxsplit=1)[0].strip() or block
    types, outside = _types(second)
    state = _state(first, bool(types))
    if outside:
        return None, "not_offered"
    if len(types) > 1:
        return None, "several_types"
    if state is None and types and not (labels == [] and _UNSURE.search(block)):
        return types.pop(), ""
    if state == "normal":
        return (None, "contradiction") if types else ("NORMAL", "")
    if state == "abnormal":
        return (types.pop(), "") if types else (None, "no_type")
    return None, state or "no_declaration"


def _state(text: str, typed: bool) -> str | None:
    """ "normal", "abnormal", "contradiction" or None when the text does not say."""
    words = [match["word"].lower() for match in _YES_NO.finditer(text)]
    abnormal = bool(_ABNORMAL.search(text))
    normal = bool(_NORMAL.search(_ABNORMAL.sub(" ", text)))
    if not words and _UNSURE.search(text):
        return None
    if abnormal != normal:
        return "abnormal" if abnormal else "normal"
    if abnormal:
        return "abnormal" if typed else "contradiction"
    if len(set(words)) > 1:
        return "abnormal" if words[-1] == "no" and typed else "contradiction"
    return {"yes": "normal", "no": "abnormal"}[words[-1]] if words else None


def _types(text: str) -> tuple[set[str], bool]:
    """The offered defects that a text names, by letter or else by name, and whether it gives a letter not offered."""
    said = _NEGATED.sub(" ", _REASON.split(text, maxsplit=1)[0] or text)
    letters = {(match["upper"] or match["lower"] or match["mark"] or match["alone"]).upper() for match in _LETTER.finditer(said)}
    if letters - set("ABCD"):
        return set(), True
    return letters or {str(match.lastgroup) for match in _NAMES.finditer(said)}, False
