"""The least that a command of Python's costs which asks another process: its start, and one round on a Unix socket.

Usage: ``python -m tests.benchmarks.floors.echo COUNT``. Prints the seconds of whole client processes as JSON.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import threading
import time

_CLIENT = """
import socket, sys
with socket.socket(socket.AF_UNIX) as one:
    one.connect(sys.argv[1])
    one.sendall(b"x" * 100)
    one.recv(65536)
"""


def main(count: str) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{folder}/s")
        server.listen()

        def serve() -> None:
            for _ in range(int(count)):
                client, _address = server.accept()
                with client:
                    client.sendall(client.recv(65536) * 50)

        threading.Thread(target=serve).start()
        seconds = []
        for _ in range(int(count)):
            started = time.perf_counter()
            subprocess.run([sys.executable, "-I", "-c", _CLIENT, f"{folder}/s"], check=True)
            seconds.append(time.perf_counter() - started)
    print(json.dumps(seconds))


if __name__ == "__main__":
    main(sys.argv[1])
