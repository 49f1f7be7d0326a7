"""The errors of the judge, all of one kind."""

from __future__ import annotations


class JudgeError(Exception):
    """Judging cannot go on; the message says what is wrong, where, and what to do. Calls made so far are stored."""


class OwnJudgeError(JudgeError):
    """The judge is the model under test."""


class MissingCallsError(JudgeError):
    """A strict replay lacks calls.

    Attributes:
        ids: The items without a stored call, in their order.
    """

    def __init__(self, ids: tuple[str, ...], store: str) -> None:
        shown = ", ".join(ids[:20]) + (", ..." if len(ids) > 20 else "")
        super().__init__(
            f"{store}: no stored call of {len(ids)} answers: {shown}. Use the settings and the store that the score "
            "was made with; replay: lenient leaves them unscored, replay: off asks the judge."
        )
        self.ids = ids
