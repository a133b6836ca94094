"""A tree of many languages and odd names, and a client that holds what it is told against the printed schema."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from tests.serve.test_schema import validator

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.answering import Client

FILES = {
    "src/commit.py": 'class Writer:\n    def commit(self, rows):\n        """Make a generation durable."""\n        return rows\n',
    "src/copy.py": 'class Writer:\n    def commit(self, rows):\n        """Make a generation durable."""\n        return rows\n',
    "src/with space#50%.py": "def odd_name(x):\n    return x\n",
    "src/wide.js": "/* 𝒳𝒳é */ function wide(x) {\n  return x;\n}\n",
    "src/marked.py": "\ufeffdef marked(x):\n    return x\n",
    "shop/汉字.py": "def 计算(x):\n    return x\n",
    "lib/tree.rs": "pub struct Node { x: i32 }\npub enum Side { Left, Right }\npub trait Walk { fn walk(&self); }\nconst LIMIT: i32 = 3;\n",
    "README.md": "# Title\n\nHow a commit is made.\n",
}  # fmt: skip
NO_UTF8 = b"caf\xe9.py"


class Checking:
    """A client that holds every answer against the schema, and everything it is told."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def result(self, method: str, params: object = None) -> Any:
        result = self.client.result(method, params)
        validator("methods", method, "result").validate(result)
        return result

    def error(self, method: str, params: object = None) -> tuple[int, str]:
        return self.client.error(method, params)

    def told(self) -> tuple[str, Any]:
        message = self.client.read()
        assert message["jsonrpc"] == "2.0"
        validator("notifications_from_daemon", message["method"]).validate(message["params"])
        return message["method"], message["params"]


def lay(root: Path) -> Path:
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())
    (root / os.fsdecode(NO_UTF8)).write_text("def coffee(x):\n    return x\n")
    return root
