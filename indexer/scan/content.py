"""What a file's content decides: the text to cut, or the reason why there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexer.files import Reason, Skipped
from indexer.scan.secrets import has_secret
from indexer.scan.text import Text, decode

if TYPE_CHECKING:
    from indexer.settings import ScanSettings

# Scripts and styles that a program writes for machines; other formats have long lines in honest files.
_MINIFIABLE = frozenset({"js", "mjs", "cjs", "css", "map"})
# Hand-written scripts and styles have means of 25 to 60 bytes a line; bundles start near 500.
_MEAN_LINE = 250
_MEAN_LINE_NAMED = 120
_SMALL = 1024


def examine(path: str, data: bytes, settings: ScanSettings) -> Text | Skipped:
    """Return the text of a file that was read, or why it is left out: secret, binary, encoding, minified."""
    if settings.secrets and has_secret(path, data):
        return Skipped(path, Reason.SECRET, "its content is a key or a token")
    text = decode(data, settings.encodings)
    if isinstance(text, str):
        return Skipped(path, text)
    if is_minified(path, text.utf8):
        return Skipped(path, Reason.MINIFIED, f"{mean_line(text.utf8)} bytes a line")
    return text


def mean_line(utf8: bytes) -> int:
    """Return the mean length of a line in bytes."""
    return len(utf8) // (utf8.count(b"\n") + utf8.count(b"\r") + 1)


def is_minified(path: str, utf8: bytes) -> bool:
    """Tell whether a script, a style or a source map was squeezed by a program, by the length of its lines."""
    stem, _, suffix = path[path.rfind("/") + 1 :].lower().rpartition(".")
    if suffix not in _MINIFIABLE or len(utf8) < _SMALL:
        return False
    named = stem.endswith((".min", "-min", ".bundle")) or suffix == "map"
    return mean_line(utf8) > (_MEAN_LINE_NAMED if named else _MEAN_LINE)
