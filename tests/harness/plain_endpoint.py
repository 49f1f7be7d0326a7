"""An OpenAI-compatible endpoint on loopback that gives one answer to everything."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from endpoints import Endpoint, JsonHandler, completion, running


@contextmanager
def serving(answer: str) -> Iterator[str]:
    """A running endpoint; gives its host and port, and is shut down at the end."""

    class Handler(JsonHandler):
        def do_POST(self) -> None:
            self.body()
            self.send(200, completion(answer))

    with running(Endpoint(Handler)) as server:
        yield server.host
