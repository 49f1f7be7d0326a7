"""What the stand-ins for an OpenAI-compatible endpoint share: JSON answers, completions, starting and stopping."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Endpoint(ThreadingHTTPServer):
    """A server on a free port of loopback."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, handler: type[JsonHandler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.lock = threading.Lock()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"

    @property
    def url(self) -> str:
        return f"http://{self.host}/v1"


class JsonHandler(BaseHTTPRequestHandler):
    """Reads and writes JSON."""

    server: Any
    protocol_version = "HTTP/1.1"

    def body(self) -> dict[str, Any]:
        """The request."""
        content: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        return content

    def send(self, status: int, content: Any, headers: Mapping[str, str] | None = None) -> None:
        """Answer; bytes are sent as they are."""
        payload = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *arguments: Any) -> None:
        """Nothing; the test says what matters."""


def completion(content: str | None, finish_reason: str = "stop", **message: Any) -> dict[str, Any]:
    """A chat completion."""
    choice = {
        "index": 0,
        "finish_reason": finish_reason,
        "message": {"role": "assistant", "content": content, **message},
    }
    usage = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}
    about = {"id": "1", "object": "chat.completion", "created": 1, "model": "stand-in"}
    return {**about, "choices": [choice], "usage": usage}


@contextmanager
def running(server: Endpoint) -> Iterator[Endpoint]:
    """The server, started, and shut down at the end."""
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
