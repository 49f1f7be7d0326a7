"""How fast the judge engine is: throughput of the ideal, and beside lmms-eval's own judging in the same run.

    python benchmarks/judge.py [--answers 6000] [--concurrency 64] [--latency 0.2] [--peer 120]

A stand-in judge in a process of its own answers after a fixed time. Ideal is ``concurrency / latency``: all places
taken all the time, and no time for anything else. On a busy machine nothing comes near it; how far the openai client
gets without us, with the same requests, is printed beside. The peer is how tasks of lmms-eval are judged:
one call for each sample in ``process_results``, which the harness runs in four threads.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from geoeval.judge.client import Client
from geoeval.judge.engine import Asked, judge_run
from geoeval.judge.question import Dialect, MarkAsk, make_question
from geoeval.judge.rubric import load_rubric
from geoeval.judge.settings import JudgeSettings

STAND_IN = Path(__file__).parents[1] / "tests" / "judge" / "standin_judge.py"
PEER_THREADS = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=6000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--peer", type=int, default=120, help="answers for lmms-eval; 0 to leave it out")
    given = parser.parse_args()

    asked = [answer(number) for number in range(given.answers)]
    with stand_in(given.latency) as url, tempfile.TemporaryDirectory() as folder:
        settings = JudgeSettings("judge-1", base_url=url, store=f"{folder}/s.sqlite", concurrency=given.concurrency)
        judge_run(asked[:1], settings)  # imports, and what the endpoint takes
        processor = time.process_time()
        took = timed(asked[1:], settings)
        processor = time.process_time() - processor
        rate, ideal = (given.answers - 1) / took, given.concurrency / given.latency
        print(
            f"{given.answers} answers, {given.concurrency} at once, {given.latency * 1e3:.0f} ms: {took:.1f} s, "
            f"{rate:.0f} a second, {rate / ideal:.1%} of the ideal {ideal:.0f}; "
            f"{1e3 * processor / given.answers:.2f} ms of the processor for each"
        )
        bare = asyncio.run(client_rate(asked[: given.answers // 3], settings))
        print(f"the openai client alone: {bare:.0f} a second, {bare / ideal:.1%}; ours is {rate / bare:.2f} of it")
        again = timed(asked, settings)
        print(f"again, all from the store: {again:.1f} s, {given.answers / again:.0f} a second")
        if given.peer:
            peer = lmms_eval_rate(asked[: given.peer], url)
            print(
                f"lmms-eval, {PEER_THREADS} threads, {given.peer} answers: {peer:.1f} a second; ours is "
                f"{rate / peer:.1f} times as fast"
            )
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def answer(number: int) -> Asked:
    """An answer of the usual length."""
    text = f"Answer {number}: the tile shows a light, fractured surface with straight joints, as granite has. " * 5
    reference = "The rock is granite: light, coarse, with joints in three directions and rounded blocks. " * 4
    return Asked(f"item-{number}", "Which rock is shown, and by what is it known?", (reference,), text)


def timed(asked: list[Asked], settings: JudgeSettings) -> float:
    """Seconds of a run without a failure."""
    begun = time.perf_counter()
    judged = judge_run(asked, settings)
    took = time.perf_counter() - begun
    assert not judged.facts["unscored"], judged.facts
    return took


async def client_rate(asked: list[Asked], settings: JudgeSettings) -> float:
    """Answers a second through the openai client as we use it, with nothing around it."""
    rubric = load_rubric()
    bodies = [make_question(MarkAsk(one, rubric), settings, Dialect()).body for one in asked]
    client, turns = Client(settings), iter(bodies)

    async def work(number: int) -> None:
        await asyncio.sleep(number * 0.003)
        for body in turns:
            await client.ask(body)

    begun = time.perf_counter()
    await asyncio.gather(*(work(number) for number in range(settings.concurrency)))
    took = time.perf_counter() - begun
    await client.close()
    return len(bodies) / took


def lmms_eval_rate(asked: list[Asked], url: str) -> float:
    """Answers a second through lmms-eval's own judge, with our prompts."""
    os.environ.update(OPENAI_API_KEY="none", OPENAI_API_URL=url)
    from lmms_eval.llm_judge import Request, ServerConfig, get_server

    config = ServerConfig(model_name="judge-1", temperature=0, max_tokens=4096)
    server, rubric = get_server("openai", config), load_rubric()

    def judge(one: Asked) -> str:
        return server.evaluate(Request(messages=MarkAsk(one, rubric).messages(structured=False), config=config)).content

    judge(asked[0])
    begun = time.perf_counter()
    with ThreadPoolExecutor(PEER_THREADS) as pool:
        list(pool.map(judge, asked))
    return len(asked) / (time.perf_counter() - begun)


@contextmanager
def stand_in(latency: float) -> Iterator[str]:
    """A stand-in judge in its own process."""
    command = [sys.executable, str(STAND_IN), "structured", str(latency)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    main()
