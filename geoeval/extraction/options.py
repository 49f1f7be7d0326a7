"""Finding the texts of the options in a reply."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

# Numbers whole (so that "5" is not found in "0.5"), words, signs that tell formulas apart, ends of sentences and lines.
_TOKEN = re.compile(
    r"[a-z]+\d*|[.!?]?[ \t]*\n\s*|[.!?](?=\s)|(?<![\w.])-?\d[\d,]*(?:\.\d+)?|\.\d+|[^\W\d_]|[<>=+/^%≤≥≠±]"
)
_APPEARS = frozenset(("appears", "seems", "looks", "has"))
_AFTER_APPEARS = frozenset(("to", "be", "have", "a", "the", "clearly"))
_RELATIVE_CLAUSE = re.compile(r", which [^,.\n]{0,150},")
_EQUALS = frozenset(("is", "are", "be", "=", "equals"))
_CONTINUES_NUMBER = re.compile(r"[-.\d/^+]")
_IN_OTHER_LANGUAGES = {
    "yes": ("はい", "是的", "是", "有", "sí", "oui", "ja"),
    "no": ("いいえ", "不是", "否", "没有", "non", "nein"),
    "left": ("左", "左边", "左侧"),
    "right": ("右", "右边", "右侧"),
    "true": ("正确", "对", "真"),
    "false": ("错误", "错", "假"),
}


class Mention(NamedTuple):
    """An option named by its text, and where."""

    letter: str
    start: int
    end: int


_Word = tuple[str, re.Match[str]]
"""A word as it is compared, and where it stands."""


class OptionTexts:
    """The option texts of one item, ready to be looked up. All methods take lower-case text.

    A text that two options share, or that is itself only a letter, names no option.
    """

    def __init__(self, letters: Sequence[str], texts: Sequence[str]) -> None:
        """Keep the texts; they are taken apart when first needed."""
        self._texts = dict(zip(letters, texts, strict=False))
        self._in_one = "\n".join(texts).lower().replace(",", "")
        self._reach = 40 + 2 * max(map(len, texts), default=0)

    @cached_property
    def _by_first_word(self) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
        """First word -> (letter, all words), the longest text first."""
        listed = {
            letter: tuple(word for word, _ in _without_article(_words(text.strip().lower())))
            for letter, text in self._texts.items()
        }
        count = Counter(listed.values())
        found: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
        for letter, words in sorted(listed.items(), key=lambda entry: -len(entry[1])):
            if words and count[words] == 1 and (len(words) > 1 or not re.fullmatch("[a-z]", words[0])):
                found.setdefault(words[0], []).append((letter, words))
        return found

    @cached_property
    def _signs(self) -> tuple[tuple[str, ...], ...]:
        """For each text what occurs wherever it is named: its words, of others than plain words the first character."""
        texts = [words for entries in self._by_first_word.values() for _, words in entries]
        return tuple(
            tuple(word if word.isalpha() else word[0] for word in words if word not in ("is", ".")) for words in texts
        )

    def _may_name(self, stretch: str) -> bool:
        """Whether all signs of some text occur: a cheap question before the stretch is taken apart."""
        for signs in self._signs:
            for sign in signs:
                if sign not in stretch:
                    break
            else:
                return True
        return False

    def mentions(self, low: str, start: int = 0, end: int | None = None) -> list[Mention]:
        """Every option named between two positions; of nested texts only the longest."""
        stretch = low[start:end]
        if not self._may_name(stretch):
            return []
        if ", which " in stretch:
            stretch = _RELATIVE_CLAUSE.sub(lambda clause: " " * len(clause[0]), stretch)
        words = _words(stretch)
        found = []
        i = 0
        while i < len(words):
            named = self._at(words, i) if words[i][0] in self._by_first_word else None
            if named and (named[1] > 1 or _is_result(words, i)):
                letter, count = named
                found.append(Mention(letter, start + words[i][1].start(), start + words[i + count - 1][1].end()))
                i += count - 1
            i += 1
        return found

    def leading(self, low: str, start: int = 0) -> Mention | None:
        """The option whose text stands at a position, an article aside."""
        if not self._texts:
            return None
        first = _TOKEN.search(low, start, start + 60)
        if first and first[0] == "the":
            first = _TOKEN.search(low, first.end(), first.end() + 60)
        word = first[0].replace(",", "") if first else ""
        if word not in self._in_one or word not in self._by_first_word:
            return None
        most = 2 + len(self._by_first_word[word][0][1])
        words = _without_article(_words(low, start, start + self._reach, most))
        named = self._at(words, 0) if words else None
        return Mention(named[0], words[0][1].start(), words[named[1] - 1][1].end()) if named else None

    def translated(self, low: str) -> str | None:
        """The option that a reply gives in one word of another language: "はい" for "yes"."""
        word = low.strip(" .!\n")
        for letter, text in self._texts.items():
            if word in _IN_OTHER_LANGUAGES.get(text.strip().lower(), ()):
                return letter
        return None

    def _at(self, words: Sequence[_Word], i: int) -> tuple[str, int] | None:
        """The letter of the option whose words stand at index i, and how many they are."""
        second = words[i + 1][0] if i + 1 < len(words) else ""
        for letter, key in self._by_first_word.get(words[i][0], ()):
            end = i + len(key)
            if len(key) > 1 and key[1] != second:
                continue
            if end <= len(words) and all(words[i + k][0] == word for k, word in enumerate(key)):
                runs_on = end < len(words) and key[-1][-1].isdigit() and _CONTINUES_NUMBER.match(words[end][0])
                if not runs_on:
                    return letter, len(key)
        return None


def _is_result(words: Sequence[_Word], i: int) -> bool:
    """A number alone names an option only as a result: "... is 12.", not "in 12 steps"."""
    if not words[i][0][-1].isdigit():
        return True
    return i > 0 and words[i - 1][0] in _EQUALS and (i + 1 == len(words) or words[i + 1][0] == ".")


def _words(low: str, start: int = 0, end: int | None = None, most: int | None = None) -> list[_Word]:
    words: list[_Word] = []
    hedged = False  # "B appears to be closer" and "B has the darker colour" name "B is closer" and "B is darker".
    for match in _TOKEN.finditer(low, start, len(low) if end is None else end):
        word = match[0]
        if hedged and word in _AFTER_APPEARS:
            continue
        hedged = word in _APPEARS
        if hedged:
            word = "is"
        elif not word.isalnum():
            word = "." if word[-1] in ".!? \t\n" else word.replace(",", "")
        words.append((word, match))
        if len(words) == most:
            break
    return words


def _without_article(words: list[_Word]) -> list[_Word]:
    return words[1:] if len(words) > 1 and words[0][0] == "the" else words
