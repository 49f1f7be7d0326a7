"""Finding the texts of the options in a reply."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
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


class _Word(NamedTuple):
    text: str
    start: int
    end: int


class OptionTexts:
    """The option texts of one item, ready to be looked up. All methods take lower-case text.

    A text that two options share, or that is itself only a letter, names no option.
    """

    def __init__(self, letters: Sequence[str], texts: Sequence[str]) -> None:
        """Keep the texts; they are tokenised when first needed."""
        self._texts = dict(zip(letters, texts, strict=False))
        self._reach = 40 + 2 * max(map(len, texts), default=0)

    @cached_property
    def _first_words(self) -> frozenset[str]:
        return frozenset(
            words[0].text
            for text in self._texts.values()
            if (words := _without_article(_words(text.strip().lower()[:40])))
        )

    @cached_property
    def _by_first_word(self) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
        """First word -> (letter, all words), the longest text first."""
        listed = {
            letter: tuple(word.text for word in _without_article(_words(text.strip().lower())))
            for letter, text in self._texts.items()
        }
        count = Counter(listed.values())
        found: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
        for letter, words in sorted(listed.items(), key=lambda entry: -len(entry[1])):
            if words and count[words] == 1 and (len(words) > 1 or not re.fullmatch("[a-z]", words[0])):
                found.setdefault(words[0], []).append((letter, words))
        return found

    def mentions(self, low: str, start: int = 0, end: int | None = None) -> list[Mention]:
        """Every option named between two positions; of nested texts only the longest."""
        stretch = low[start:end]
        if not any((word if word.isalpha() else word[0]) in stretch for word in self._first_words):
            return []
        if ", which " in stretch:
            stretch = _RELATIVE_CLAUSE.sub(lambda clause: " " * len(clause[0]), stretch)
        words = list(_words(stretch))
        found = []
        i = 0
        while i < len(words):
            named = self._at(words, i)
            if named and (named[1] > 1 or _is_result(words, i)):
                letter, count = named
                found.append(Mention(letter, start + words[i].start, start + words[i + count - 1].end))
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
        if first is None or first[0].replace(",", "") not in self._first_words:
            return None
        words = _without_article(_words(low, start, start + self._reach))
        named = self._at(words, 0) if words else None
        return Mention(named[0], words[0].start, words[named[1] - 1].end) if named else None

    def translated(self, low: str) -> str | None:
        """The option that a reply gives in one word of another language: "はい" for "yes"."""
        word = low.strip(" .!\n")
        for letter, text in self._texts.items():
            if word in _IN_OTHER_LANGUAGES.get(text.strip().lower(), ()):
                return letter
        return None

    def _at(self, words: Sequence[_Word], i: int) -> tuple[str, int] | None:
        """The letter of the option whose words stand at index i, and how many they are."""
        for letter, key in self._by_first_word.get(words[i].text, ()):
            end = i + len(key)
            if end <= len(words) and all(words[i + k].text == word for k, word in enumerate(key)):
                runs_on = end < len(words) and key[-1][-1].isdigit() and _CONTINUES_NUMBER.match(words[end].text)
                if not runs_on:
                    return letter, len(key)
        return None


def _is_result(words: Sequence[_Word], i: int) -> bool:
    """A number alone names an option only as a result: "... is 12.", not "in 12 steps"."""
    if not words[i].text[-1].isdigit():
        return True
    return i > 0 and words[i - 1].text in _EQUALS and (i + 1 == len(words) or words[i + 1].text == ".")


@lru_cache(maxsize=4096)
def option_texts(letters: tuple[str, ...], texts: tuple[str, ...]) -> OptionTexts:
    """The prepared texts of an item; cached because an item is usually read many times."""
    return OptionTexts(letters, texts)


def _words(low: str, start: int = 0, end: int | None = None) -> Iterator[_Word]:
    hedged = False  # "B appears to be closer" and "B has the darker colour" name "B is closer" and "B is darker".
    for match in _TOKEN.finditer(low, start, len(low) if end is None else end):
        word = match[0]
        if not (hedged and word in _AFTER_APPEARS):
            hedged = word in _APPEARS
            plain = "is" if hedged else "." if word[-1] in ".!? \t\n" else word.replace(",", "")
            yield _Word(plain, match.start(), match.end())


def _without_article(words: Iterable[_Word]) -> list[_Word]:
    listed = list(words)
    return listed[1:] if len(listed) > 1 and listed[0].text == "the" else listed
