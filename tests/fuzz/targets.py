"""What is fuzzed: for each name a function that is given a number, makes an input of it, and raises where a promise is broken.

One target for each language's chunker, and one for each place where bytes of a file or of a peer are first read.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from indexer import tokens
from indexer.chunk import CHUNKERS, chunk, python, python_scan
from indexer.chunk.cutting import Task, cut_all
from indexer.chunk.languages import language_of
from indexer.chunk.tables import LANGUAGES
from indexer.columns import columns_of
from indexer.errors import ConfigError
from indexer.keys import keys_of
from indexer.merging import merge
from indexer.scan.patterns import Patterns, parse_lines
from indexer.scan.text import decode
from indexer.search.filters import name_pattern, path_pattern
from indexer.search.query import parse
from indexer.serve import schema
from indexer.serve.calls import Call, Wrong, params_of, read_calls
from indexer.serve.protocol import Code, Framing, RpcError
from indexer.settings import ChunkSettings, ScanSettings, Settings
from tests.chunk.promises import hold, texts
from tests.chunk.test_python import HEADS, PIECES, start
from tests.fuzz.mutants import MARKS, Mutants, Notebooks
from tests.serve.test_protocol import cut, run

Check = Callable[[int], None]

LANGUAGES_FUZZED = sorted({*CHUNKERS, *LANGUAGES, "text", "po", "json"})
_SETTINGS = [ChunkSettings(32, 8), ChunkSettings(32, 8), ChunkSettings(), ChunkSettings(4096, 0)]
_ESCAPES = 32  # bytes that one word may have, each an escape in the JSON of a notebook that looks like a word
_TWICE = 16  # one input in so many is cut again, with its keys and terms


def _chunker(language: str) -> Check:
    mutants = Notebooks() if language == "notebook" else Mutants("text" if language == "json" else language)

    def check(number: int) -> None:
        text, settings = mutants.make(number), _SETTINGS[number % len(_SETTINGS)]
        found = chunk(language, text, settings)
        if language == "notebook" and not found.fallback.startswith("no notebook"):
            hold(text, found, settings._replace(max_tokens=settings.max_tokens * _ESCAPES), [(0, 0)])
        else:
            hold(text, found, settings)
        for piece in found.chunks:
            assert isinstance(piece.language + piece.symbol + piece.scope + "".join(piece.bases), str)
        if number % _TWICE == 0:
            again = cut_all([Task(0, language, text)], settings)
            pairs: Any = zip(again.files, columns_of([found]), strict=True)
            assert all(np.array_equal(one, other) for one, other in pairs)
            assert np.array_equal(again.keys, keys_of(texts(text, found)))

    return check


_PYTHON = Mutants("python")


_PIECES = [piece for piece in PIECES.split("|") if python.parse_source(piece.encode())]
_HEADS = [head for head in HEADS.split("|") if python.parse_source(f"{head} pass".encode())]
_SPREAD = [*[""] * 12, "\n", "  ", " # x", "\n# y", "\n    # z", ";"]


def _program(chance: random.Random, depth: int = 0) -> str:
    """A program that is most likely Python to `ast`, with what may stand between its lines."""
    lines: list[str] = []
    for _ in range(chance.randrange(1, 5)):
        line = chance.choice(_PIECES)
        if depth < 4 and chance.random() < 0.5:
            inner = _program(chance, depth + 1)
            line = (
                chance.choice(_HEADS)
                + (chance.choice(_SPREAD) + "\n" if chance.random() < 0.8 else " ")
                + inner
            )
        lines += (line + chance.choice(_SPREAD)).split("\n")
    indent = chance.choice((" ", "  ", "    ", "    ", "\t")) if depth else ""
    return "\n".join(indent + line for line in lines)


def _python_text(number: int) -> bytes:
    if number % 4 == 0:
        return _PYTHON.make(number)
    chance = random.Random(f"program {number}")
    text = chance.choice(("", "", "", "\ufeff")) + _program(chance) + chance.choice(("", "\n", "# end"))
    return text.replace("\n", chance.choice(("\n", "\n", "\r\n"))).encode()


def _readers(number: int) -> None:
    """What is Python to `ast` has the same definitions and imports by its lines, where these can be told."""
    text = _python_text(number)
    by_lines, by_ast = python_scan.outline(text), python.outline_by_ast(text)
    if by_lines is not None and by_ast is not None:
        assert sorted(by_lines.definitions, key=start) == sorted(by_ast.definitions, key=start)
        assert by_lines.imports == by_ast.imports


# --- what reads bytes and words

_ANY = [Mutants(language) for language in ("python", "text", "javascript", "po")]


def _words(number: int) -> None:
    some = [mutants.make(number) for mutants in _ANY[: number % 4 + 1]]
    offsets, terms, counts = tokens.count_terms(some)
    for place, text in enumerate(some):
        expected = Counter(tokens.hash_terms(tokens.terms_of(text)).tolist())
        low, high = offsets[place], offsets[place + 1]
        found = dict(zip(terms[low:high].tolist(), counts[low:high].tolist(), strict=True))
        assert found == {term: min(count, 65535) for term, count in expected.items()}
    assert tokens.size(b"\n".join(some)) == sum(map(tokens.size, some))


def _question(number: int) -> None:
    text = _ANY[number % 4].make(number).decode("utf-8", ("replace", "surrogateescape")[number % 2])
    found = parse(text)
    assert all(name.key and 0 < name.weight <= 1 for name in found.names)
    assert len({term.text for term in found.terms}) == len(found.terms)
    assert all(0 <= share <= 1 for share in found.topics.values())


def _encoding(number: int) -> None:
    data = _ANY[number % 4].make(number)
    found = decode(data, ScanSettings().encodings)
    if not isinstance(found, str):
        assert found.encoding == "unknown-8bit" or b"\0" not in found.utf8
        assert found.encoding == "unknown-8bit" or found.utf8.decode("utf-8") is not None


def _name(number: int) -> None:
    data = _ANY[number % 4].make(number)
    path = data[:60].decode("utf-8", "surrogateescape")
    assert language_of(path, data) == language_of(path, bytes(data)) != ""


# --- what peers say

_PARAMS: list[Any] = [
    schema.NoParams, schema.Initialize, schema.SearchParams, schema.SymbolsParams, schema.RelatedParams,
    schema.ReindexParams, schema.SyncParams, schema.WorkspaceSymbolParams, schema.CancelParams,
]  # fmt: skip
_VALUES: list[object] = [
    None, 0, -1, 3, 1.5, 2**70, "", "wait", "a\ud800b", [], {}, ["x", 1], True, {"a": {"b": []}}, "中文", "x" * 300,
]  # fmt: skip
_KEYS = [
    "query",
    "k",
    "freshness",
    "mode",
    "path",
    "lang",
    "kind",
    "min_score",
    "timeout_ms",
    "id",
    "full",
    "name",
    "line",
]
_JSON = re.compile(rb'"|\\u....|[\w.]+|[\s\S]')


def _message(chance: random.Random) -> bytes:
    """A call that is nearly right."""
    params: object = {chance.choice(_KEYS): chance.choice(_VALUES) for _ in range(chance.randrange(5))}
    value: dict[str, object] = {"jsonrpc": "2.0", "id": 1, "method": "index/search", "params": params}
    for _ in range(chance.randrange(3)):
        value[chance.choice(list(value))] = chance.choice(_VALUES)
    some: object = [value] * chance.randrange(4) if chance.random() < 0.1 else value
    return _spoiled(
        chance, json.dumps(some, ensure_ascii=chance.random() < 0.9).encode("utf-8", "surrogatepass")
    )


def _spoiled(chance: random.Random, body: bytes) -> bytes:
    parts = _JSON.findall(body)
    for _ in range(chance.choice((0, 0, 1, 2, 4))):
        at = chance.randrange(len(parts) + 1)
        parts[at : at + chance.randrange(4)] = chance.choices(
            [*MARKS, b"[" * 2000, b'"\\ud800"', b"1e999"], k=chance.randrange(3)
        )
    return b"".join(parts)


def _call(number: int) -> None:
    chance = random.Random(f"call {number}")
    for call in read_calls(_message(chance), 100).calls:
        if isinstance(call, Wrong):
            assert call.error.code in {Code.PARSE, Code.INVALID_REQUEST}
            continue
        assert isinstance(call, Call)
        with suppress(RpcError):
            params_of(call.params, chance.choice(_PARAMS))


def _stream(number: int) -> None:
    """Whatever comes, and in whatever pieces, the same bodies are read."""
    chance = random.Random(f"stream {number}")
    framing = chance.choice(list(Framing))
    stream = b"".join(framing.frame(_message(chance)[:400]) for _ in range(chance.randrange(4)))
    stream = _spoiled(chance, stream) if chance.random() < 0.7 else stream
    whole, wrong = run([stream])
    pieces, wrong_too = run(
        cut(stream, [chance.randrange(len(stream) + 1) for _ in range(chance.randrange(9))])
    )
    assert pieces == whole
    assert (wrong is None) == (wrong_too is None)


_SECTIONS = Settings()._asdict()


def _settings(number: int) -> None:
    """What a settings file may hold: settings that are within their bounds, or the one error."""
    chance = random.Random(f"settings {number}")
    table: dict[str, object] = {}
    for name in chance.choices([*_SECTIONS, "nonsense"], [*[20] * len(_SECTIONS), 1], k=chance.randrange(3)):
        keys = _SECTIONS.get(name, Settings())._fields
        values = [*_VALUES, 12, 0.5, "static", ["utf-8"], ["*.py"]]
        table[name] = {chance.choice(keys): chance.choice(values) for _ in range(chance.randrange(3))}
        if chance.random() < 0.05:
            table[name] = chance.choice(_VALUES)
    with suppress(ConfigError):
        merged = merge(Settings(), table, "here", trusted=chance.random() < 0.7)
        assert merge(Settings(), {}, "here", trusted=True) == Settings()
        assert isinstance(merged.scan.max_file_bytes, int)
        assert merged.worker.file_timeout > 0


# --- patterns

_GLOBS = [
    b"a", b"b", b"*", b"**", b"?", b"/", b"/", b"/", b"[ab]", b"[!a]", b"[a-", b"[[:alpha:]]", b"\\", b"!", b"#", b" ", b"**/", b"/**",
    b"\xff", b"\xe4\xb8\xad", b"]", b"[", b"-", b"^", b".", b"x.py", b"\t", b"{a,b}", b"(", b")", b"+", b"|", b"$",
]  # fmt: skip


def _glob(chance: random.Random) -> bytes:
    return b"".join(chance.choices(_GLOBS, k=chance.randrange(1, 12)))


def _path(chance: random.Random) -> bytes:
    parts = chance.choices(
        (b"a", b"b", b"ab", b"x.py", b"\xff", b"\xe4\xb8\xad", b"[", b"a" * 40), k=chance.randrange(1, 9)
    )
    return b"/".join(parts)


def _ignored(number: int) -> None:
    """All lines of an ignore file at once say what the last of them that speaks says by itself."""
    chance = random.Random(f"ignored {number}")
    rules = parse_lines(b"\n".join(_glob(chance) for _ in range(chance.randrange(6))))
    together, single = Patterns(rules), [Patterns([rule]) for rule in rules]
    for _ in range(4):
        path, folder = _path(chance), chance.random() < 0.5
        said = [verdict for one in single if (verdict := one.verdict(path, is_directory=folder)) is not None]
        assert together.verdict(path, is_directory=folder) == (said[-1] if said else None)


_GLOB_PIECE = re.compile(r"(?<![^/])\*\*/|\*\*+|\[(?:!.|[^!])[^\]]*\]|.", re.DOTALL)


def _reached(piece: str, path: str, places: set[int]) -> set[int]:
    """Where a piece of a glob can end in a path when it begins at one of the places."""
    if piece == "**/":
        return places | {end for end in range(min(places) + 1, len(path) + 1) if path[end - 1] == "/"}
    if piece.startswith("**"):
        return set(range(min(places), len(path) + 1))
    if piece == "*":
        return {end for at in places for end in range(at, (path + "/").index("/", at) + 1)}
    one = path_pattern(piece) if piece[0] == "[" and len(piece) > 1 else None
    return {
        at + 1
        for at in places
        if at < len(path)
        and (one.match(path[at]) if one else path[at] == piece or (piece == "?" and path[at] != "/"))
    }


def matches(glob: str, path: str) -> bool:
    """What `path_pattern` says, by trying every place."""
    body = glob.removeprefix("./").strip("/")
    anchored = "/" in body or glob.startswith(("/", "./"))
    places = {0} if anchored else {0, *(at + 1 for at, letter in enumerate(path) if letter == "/")}
    for piece in _GLOB_PIECE.findall(body):
        places = _reached(piece, path, places) if places else places
    return any(path[at : at + 1] in {"", "/"} for at in places)


def _filter(number: int) -> None:
    """A glob matches what it says, and none takes for ever."""
    chance = random.Random(f"filter {number}")
    glob = _glob(chance).decode("utf-8", "surrogateescape")
    for _ in range(4):
        path = _path(chance).decode("utf-8", "surrogateescape")
        assert bool(path_pattern(glob).match(path)) == matches(glob, path), (glob, path)
        name_pattern(glob).match(path)


TARGETS: dict[str, Callable[[], Check]] = {
    **{language: lambda language=language: _chunker(language) for language in LANGUAGES_FUZZED},  # type: ignore[misc]
    "readers": lambda: _readers,
    "words": lambda: _words,
    "question": lambda: _question,
    "encoding": lambda: _encoding,
    "name": lambda: _name,
    "call": lambda: _call,
    "stream": lambda: _stream,
    "settings": lambda: _settings,
    "ignored": lambda: _ignored,
    "filter": lambda: _filter,
}
