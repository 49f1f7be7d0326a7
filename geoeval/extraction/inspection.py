"""Read the two-part reply of FORGE SURFINSP: is the part normal, and if not, which of four defects has it?"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from geoeval.extraction.json_objects import Pairs, find_objects
from geoeval.extraction.reasoning import strip_reasoning
from geoeval.extraction.text import ascii_forms
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
        ("[\u3400-\u9fff]+", " "),
    )
)
# Text that asks or lists instead of answering, markup, and names of views.
_NOISE = _words(
    r"\(?A\W{0,3}Crack\W{1,4}B\W{0,3}Cut\W{1,4}C\W{0,3}Deformation\W{1,4}(?:(?:and|or)\W{1,2})?D\W{0,3}Dent\b"
    r"|\(?\byes ?/ ?no\b\)?"
    r"|\b(?:is|are) (?:it|this|the \w{1,20}) normal ?\?|\bn ?/ ?a\b|\bn\.a\.|\bwhether\b[^.;:\n]{0,200}"
    r"|\b(?:front|side|top|left|right|view|image|panel|figure)(?: view)? ?(?:[1-9]\b)? ?(?::|=| [-–—])"
    r"|\b(?:view|image) ?[1-9]\b"
    r"|</?\w{1,20}>|\\(?:boxed|text\w{0,4}|math\w{2})\b|[*_`${}\"“”]"
)
_END = 20_000
_JSON_WORDS = {"true": "Yes", "false": "No", "none": "", "null": ""}
_SPACES = re.compile(r"[ \t]{2,}|\t")
_PART = _words(
    r"\b(?:part|question) ?(?P<part>[12]|one|two|ii?)\b ?[:.)=–—-]{0,2}"
    r"|(?:^|(?<=[\s.;,]))\(?(?P<number>[12]) ?[).:](?!\d)"
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
    r"(?:\bnor?[ \t]+(?=[a-z])(?!(?:the|it|there|this|that|i|part|[a-d])\b)"
    r"|\b(?:not|without|neither|free (?:of|from)|unlike|rather than|instead of)\b|n't\b)(?:(?!\bbut\b)[^.;:\n]){0,200}"
)
_NOT_NORMAL = _words(
    r"\b(?:not|isn't) (?:\w{1,20} ){0,2}normal\b|(?<!no )(?<!not )\b(?:abnormal|defective|damaged|faulty)\b"
)
_HAS_DEFECT = _words(
    rf"\b(?:there(?: is|'s| are)|has|have|shows?|see|contains?|exhibits?)\b (?:\w{{1,20}} ){{0,4}}{_DEFECT}"
    rf"|\b{_DEFECT} (?:is|are|was|can be|visible|present|found|detected)\b"
)
_NORMAL = _words(
    rf"\b(?:no|not|without|free (?:of|from)) (?:\w{{1,20}} ){{0,3}}{_DEFECT}"
    r"|\b(?:normal|defect-free|damage-free|intact)\b"
)
_UNSURE = _words(
    r"\b(?:cannot|can't|can not|unable|not (?:sure|certain|possible)|unclear|impossible|too \w{1,20} to|don't know)\b"
)
# "A" and "I" as words are no letters: a letter has a mark or an end after it, or a word before it that announces it.
_LETTER = re.compile(
    r"(?<![\w'])\(?([A-Z])(?!['\w])(?=\s*(?:[^\w\s]|\n|\Z|(?:and|or)\s\(?[A-Z]\b))"
    r"|\b(?:[Oo]ption|[Tt]ype|[Ss]elect|[Cc]hoose)\s\(?([A-Z])\b"
    r"|(?:\(([a-z])\)|(?<![\w'])([a-z])\)|(?:\A|[.,:;-]\s)([a-z])\W*\Z)"
)


def extract_inspection(reply: str) -> Extraction:
    """Read whether the part is normal and, if not, its defect.

    The last complete statement stands, a letter stands against a name, and reasoning does not count.

    Args:
        reply: The model's reply, of any length.

    Returns:
        ``value`` is "NORMAL", "A" (crack), "B" (cut), "C" (deformation), "D" (dent) or None. ``method`` is "json",
        "parts" (labelled parts) or "statement"; ``reason`` is "empty", "only_reasoning", "no_type", "several_types",
        "not_offered", "contradiction" or "no_declaration". Takes linear time.
    """
    visible = strip_reasoning(reply)
    if not visible:
        return Extraction(None, "none", "only_reasoning" if reply.strip() else "empty")
    if len(visible) > 2 * _END:  # An answer stands at the beginning or the end.
        visible = f"{visible[:_END].rpartition(' ')[0]}\n{visible[-_END:].partition(' ')[2]}"
    members = _json_lines(visible)
    text = ascii_forms(members or visible).replace("’", "'")
    if not text.isascii():
        for chinese, english in _CHINESE:
            text = chinese.sub(english, text)
    text = _SPACES.sub(" ", _NOISE.sub(" ", text)).strip()
    reason = "no_declaration"
    for block in reversed(_blocks(text)):
        value, reason = _read_block(block)
        if value:
            return Extraction(value, "json" if members else "parts" if _PART.search(block) else "statement")
        if reason != "no_declaration":
            break
    return Extraction(None, "none", reason)


def _json_lines(text: str) -> str:
    """The members of the last object that has parts, as lines "Part 1: ..." and "Part 2: ..."; "" when none has."""
    found: list[str] = []
    for value, _ in find_objects(text):
        if isinstance(value, Pairs):
            inner = [pair for _, member in value if isinstance(member, Pairs) for pair in member]
            lines = [line for key, member in [*value, *inner] if (line := _json_line(key.lower(), member))]
            found = lines or found
    return "\n".join(found)


def _json_line(key: str, value: Any) -> str:
    if isinstance(value, Pairs):
        value = next((member for name, member in value if name.lower() in ("answer", "value")), None)
    if isinstance(value, list):
        value = ", ".join(item for item in value if isinstance(item, str))
    said = str(value) if isinstance(value, str | bool) else ""
    word = _JSON_WORDS.get(said.lower(), said)
    if re.search(r"has_?(?:a_)?defect|is_?defective|abnormal", key) and word in ("Yes", "No"):
        return "Part 1: " + ("No" if word == "Yes" else "Yes")
    label = re.search(r"(?P<second>part.?(?:2|two)|q2|type|defect)|part.?(?:1|one)|q1|normal|^answer$", key)
    return f"{'Part 2:' if label['second'] else '' if key == 'answer' else 'Part 1:'} {word}" if label else ""


def _blocks(text: str) -> list[str]:
    """The text cut before each "Part 1" and each word of correction: every piece may be a complete answer."""
    starts = [match.start() for match in _PART.finditer(text) if _is_first(match)]
    starts += [match.start() for match in _CORRECTION.finditer(text)]
    cuts = [0, *sorted(starts), len(text)]
    return [text[start:end] for start, end in pairwise(cuts) if text[start:end].strip()]


def _is_first(label: re.Match[str]) -> bool:
    return bool(label["normal"]) or (label["part"] or label["number"] or "").lower() in ("1", "one", "i")


def _read_block(block: str) -> tuple[str | None, str]:
    parts: dict[bool, str] = {}
    labels = list(_PART.finditer(block))
    for label, following in zip(labels, [*labels[1:], None], strict=False):
        content = block[label.end() : following.start() if following else len(block)].strip()
        parts[_is_first(label)] = content.split("\n")[0]
    if labels:
        first = parts.get(True, "")
        second = _before_reason(parts.get(False, first))
    else:
        first = second = _before_reason(block)
    types, outside = _types(second)
    state = _state(first, bool(types))
    if state == "abnormal" and not types and not labels:  # "Not normal, because a crack (A) ..."
        types, outside = _types(block)
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


def _before_reason(text: str) -> str:
    return _REASON.split(text, maxsplit=1)[0].strip() or text


def _state(text: str, typed: bool) -> str | None:
    """Give "normal", "abnormal", "contradiction", or None when the text does not say."""
    words = [match["word"].lower() for match in _YES_NO.finditer(text)]
    not_normal = _NOT_NORMAL.search(text)
    abnormal = bool(not_normal or _HAS_DEFECT.search(_NEGATED.sub(" ", text)))
    normal = bool(_NORMAL.search(_NOT_NORMAL.sub(" ", text) if not_normal else text))
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
    said = _NEGATED.sub(" ", _NOT_NORMAL.sub(" ", text))
    letters = {match[match.lastindex or 0].upper() for match in _LETTER.finditer(said)}
    if letters - set("ABCD"):
        return set(), True
    return letters or {str(match.lastgroup) for match in _NAMES.finditer(said)}, False
