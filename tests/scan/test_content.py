"""What a file's content decides besides its encoding: keys and tokens, and what a program squeezed."""

from __future__ import annotations

import pytest

from indexer.scan.content import examine
from indexer.scan.text import Text
from indexer.settings import ScanSettings
from indexer.types import Skipped

KEY = b"-----BEGIN %sPRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n"


def reason(path: str, data: bytes, **settings: object) -> str:
    result = examine(path, data, ScanSettings(**settings))  # type: ignore[arg-type]
    return result.reason if isinstance(result, Skipped) else ""


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("server.pem", b"Bag Attributes\n" + KEY % b"RSA "),
        ("tls/server.KEY", KEY % b""),
        ("auth.p8", KEY % b"EC "),
        ("deploy_key", KEY % b"OPENSSH "),
        ("keys/backup.txt", b"\n" + KEY % b"ENCRYPTED "),
        ("secret.asc", b"-----BEGIN PGP PRIVATE KEY BLOCK-----\n"),
        (".npmrc", b"registry=https://r.example.org\n//r.example.org/:_authToken=abc\n"),
        (".pypirc", b"[pypi]\nusername = me\npassword = x\n"),
        (".yarnrc.yml", b"npmAuthToken: abc\n"),
    ],
)
def test_secrets_by_content(path: str, data: bytes) -> None:
    assert reason(path, data) == "secret"
    assert reason(path, data, secrets=False) == ""


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("server.pem", b"-----BEGIN CERTIFICATE-----\nMIIB\n"),
        ("id.key", b"-----BEGIN PUBLIC KEY-----\n"),
        ("test_keys.py", b"KEY = '''\n" + KEY % b"RSA " + b"'''\n"),
        ("slides.key", b"notes"),
        (".npmrc", b"registry=https://r.example.org\n# _authToken=x\n//r/:_authToken=${NPM_TOKEN}\n"),
        (".yarnrc.yml", b"npmAuthToken: ${TOKEN}\nnodeLinker: node-modules\n"),
        ("npmrc.py", b"_authToken = 1\n"),
        (".pypirc", b"[pypi]\nusername = me\n"),
    ],
)
def test_what_only_looks_like_a_secret(path: str, data: bytes) -> None:
    assert reason(path, data) == ""


def test_minified_s027() -> None:
    bundle = b"!function(e,t){var n=e.exports;n.a=1}(this);" * 200
    assert reason("app.min.js", bundle) == "minified"
    assert reason("app.js", bundle) == "minified"
    assert reason("a.css", b".a{color:red}" * 500 + b"\n/*# sourceMappingURL */\n") == "minified"
    assert reason("app.js.map", b'{"version":3,"mappings":"' + b"AAAA," * 500 + b'"}') == "minified"
    assert reason("data.json", bundle) == ""
    assert reason("small.js", b"x" * 1000) == ""
    assert reason("written.js", b"function f(a, b) {\n  return a + b;\n}\n" * 100) == ""
    # A source with one embedded picture among many lines of its own is still a source.
    assert reason("icon.js", b"const x = 1;\n" * 400 + b"const icon = '" + b"A" * 20_000 + b"';\n") == ""
    named = b"function f(a,b){return a+b} " * 6 + b"\n"
    assert reason("lib.min.js", named * 20) == "minified"
    assert reason("lib.js", named * 20) == ""


def test_text_and_other_reasons() -> None:
    assert examine("a.py", b"x = 1\n", ScanSettings()) == Text("utf-8", b"x = 1\n")
    assert examine("a.py", b"x\0", ScanSettings()) == Skipped("a.py", "binary")
    assert examine("a.py", b"\xff\xfex", ScanSettings()) == Skipped("a.py", "encoding")
