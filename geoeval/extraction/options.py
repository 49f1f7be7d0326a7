"""Finding the texts of the options in a reply."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

# Numbers whole (so that "5" is not found in "0.5"), words, and the signs that tell formulas apart.
_TOKEN = re.compile(r"[a-z]+\d*|(?<![a-z0-9])-?\d[\d,]*(?:\.\d+)?|\.\d+|[^\W\d_]|[<>=+/^%≤≥≠±]")
_APPEARS = frozenset(("appears", "seems", "looks"))
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
        """Tokenise the texts."""
        words = {
            letter: tuple(word.text for word in _without_article(_words(text.lower())))
            for letter, text in zip(letters, texts, strict=False)
        }
        all_words = list(words.values())
        self._words = {
            letter: key
            for letter, key in words.items()
            if key and all_words.count(key) == 1 and not re.fullmatch("[a-z]", key[0] if len(key) == 1 else "")
        }
        self._by_first_word: dict[str, list[str]] = {}
        for letter in sorted(self._words, key=lambda letter: -len(self._words[letter])):
            self._by_first_word.setdefault(self._words[letter][0], []).append(letter)
        self._reach = 40 + 2 * max(map(len, texts), default=0)
        self._translated = {
            word: letter
            for letter, text in zip(letters, texts, strict=False)
            for word in _IN_OTHER_LANGUAGES.get(text.strip().lower(), ())
        }

    def mentions(self, low: str, start: int = 0, end: int | None = None) -> list[Mention]:
        """Every option named between two positions; of nested texts only the longest."""
        words = list(_words(low, start, end)) if self._words else []
        found = []
        i = 0
        while i < len(words):
            letter = self._at(words, i)
            if letter:
                last = i + len(self._words[letter]) - 1
                found.append(Mention(letter, words[i].start, words[last].end))
                i = last
            i += 1
        return found

    def leading(self, low: str, start: int = 0) -> Mention | None:
        """The option whose text stands at a position, an article aside."""
        words = _without_article(_words(low, start, start + self._reach)) if self._words else []
        letter = self._at(words, 0) if words else None
        return Mention(letter, words[0].start, words[len(self._words[letter]) - 1].end) if letter else None

    def translated(self, low: str) -> str | None:
        """The option that a reply gives in one word of another language: "はい" for "yes"."""
        return self._translated.get(low.strip(" .!\n"))

    def _at(self, words: Sequence[_Word], i: int) -> str | None:
        for letter in self._by_first_word.get(words[i].text, ()):
            key = self._words[letter]
            end = i + len(key)
            if end <= len(words) and all(words[i + k].text == word for k, word in enumerate(key)):
                runs_on = end < len(words) and key[-1][-1].isdigit() and _CONTINUES_NUMBER.match(words[end].text)
                if not runs_on:
                    return letter
        return None


@lru_cache(maxsize=4096)
def option_texts(letters: tuple[str, ...], texts: tuple[str, ...]) -> OptionTexts:
    """The prepared texts of an item; cached because an item is usually read many times."""
    return OptionTexts(letters, texts)


def _words(low: str, start: int = 0, end: int | None = None) -> Iterator[_Word]:
    hedged = False  # "B appears to be closer" names the option "B is closer".
    for match in _TOKEN.finditer(low, start, len(low) if end is None else end):
        word = match[0]
        if not (hedged and word in ("to", "be")):
            hedged = word in _APPEARS
            yield _Word("is" if hedged else word.replace(",", ""), match.start(), match.end())


def _without_article(words: Iterator[_Word]) -> list[_Word]:
    listed = list(words)
    return listed[1:] if len(listed) > 1 and listed[0].text == "the" else listed
