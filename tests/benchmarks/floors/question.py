"""The least that a question costs: asked over a socket, and answered by an index that does the least (`least`).

Usage: ``python -m tests.benchmarks.floors.question ROOT COUNT``, of a root that is indexed. Prints seconds as JSON.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from pathlib import Path

from tests.benchmarks.asked import questions
from tests.benchmarks.floors.least import Index

_MOST = 1 << 20  # bytes of a piece of an answer


def main(root: str, count: str) -> None:
    ours, theirs = socket.socketpair()
    if not os.fork():
        ours.close()
        _serve(Index(Path(root)), theirs)
        return
    theirs.close()
    seconds = []
    for query in ("how is it read", *questions(int(count))):
        started = time.perf_counter()
        ours.sendall(json.dumps({"query": query}).encode())
        answer = b""
        while not answer.endswith(b"\n"):
            answer += (piece := ours.recv(_MOST))
            assert piece, f"no answer to {query}"
        json.loads(answer)
        seconds.append(time.perf_counter() - started)
    ours.close()
    os.wait()
    print(json.dumps(seconds[1:]))


def _serve(index: Index, client: socket.socket) -> None:
    while asked := client.recv(_MOST):
        client.sendall(json.dumps(index.answer(json.loads(asked)["query"])).encode() + b"\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
