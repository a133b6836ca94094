"""Which files hold secrets, so that they are never read into an index, by name or by content.

By name: ``.env`` and ``.env.<anything>`` (but the example, sample, template, dist, defaults and test ones that are
meant to be shared), the private keys of ssh (``id_rsa``, ``id_dsa``, ``id_ecdsa``, ``id_ed25519`` and their ``_sk``
forms), key stores (``*.p12 *.pfx *.jks *.keystore *.kdbx *.ppk``), ``.netrc``, ``_netrc``, ``.pgpass``,
``.git-credentials``, ``.htpasswd``, ``.dockercfg``, ``.aws/credentials``.

By content: ``*.pem``, ``*.key``, ``*.p8`` with a private key anywhere in them; any file that begins with one;
``.npmrc`` and ``.yarnrc.yml`` with a token or password, ``.pypirc`` with a password. A source file that only
mentions a key, as a test would, is not a secret.
"""

from __future__ import annotations

import re

SECRET_NAMES = frozenset(
    {
        "_netrc",
        "credentials",
        *(f"id_{kind}" for kind in ("rsa", "dsa", "ecdsa", "ecdsa_sk", "ed25519", "ed25519_sk")),
    }
)
SECRET_SUFFIXES = frozenset({"p12", "pfx", "jks", "keystore", "kdbx", "ppk"})
_DOTTED = frozenset({".env", ".netrc", ".pgpass", ".git-credentials", ".htpasswd", ".dockercfg"})
_SHARED_ENV = frozenset({"example", "sample", "template", "dist", "defaults", "test"})

_PRIVATE_KEY = re.compile(rb"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_SUFFIXES = (".pem", ".key", ".p8")
_TOKENS = {
    ".npmrc": re.compile(rb"^[^#;\n]*(?:_authToken|_auth|_password)[ \t]*=[ \t]*[^\s$]", re.MULTILINE),
    ".yarnrc.yml": re.compile(rb"^[ \t]*npmAuth(?:Token|Ident)[ \t]*:[ \t]*[\"']?[^\s$\"']", re.MULTILINE),
    ".pypirc": re.compile(rb"^[ \t]*password[ \t]*[=:][ \t]*\S", re.MULTILINE),
}


def is_secret_name(path: str) -> bool:
    """Tell whether the name alone says that a file holds secrets. ``path`` is relative to the root."""
    folder, _, name = path.lower().rpartition("/")
    if name == "credentials":
        return folder.rpartition("/")[2] == ".aws"
    if name.startswith(".env."):
        return name.rpartition(".")[2] not in _SHARED_ENV
    stem, dot, suffix = name.rpartition(".")
    return name in SECRET_NAMES or name in _DOTTED or (bool(stem and dot) and suffix in SECRET_SUFFIXES)


def has_secret(path: str, data: bytes) -> bool:
    """Tell whether a file's content is a secret: a private key, or a tool's file with a token in it."""
    name = path[path.rfind("/") + 1 :].lower()
    if name.endswith(_KEY_SUFFIXES):
        return _PRIVATE_KEY.search(data) is not None
    if _PRIVATE_KEY.match(data[:256].removeprefix(b"\xef\xbb\xbf").lstrip()):
        return True
    tokens = _TOKENS.get(name)
    return tokens is not None and tokens.search(data) is not None
