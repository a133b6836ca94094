"""One ignore file, compiled: the gitignore language as git itself reads it, over bytes.

Git's rules are its code (`wildmatch.c`, `dir.c`), and those have corners that a general glob library gets wrong:
``?`` is one byte, ``[!a]`` never matches a slash, ``a/**`` does not match ``a`` itself, ``ab**/c`` does match ``abc``
(the literal beginning is cut off first, and what is left begins with ``**/``). So the translation is our own and is
held against ``git ls-files`` by property tests.

A repository is not trusted, so no pattern may be slow: each piece between two stars is matched at its first place,
once (an atomic group), which is right for globs and keeps the work linear in the length of the name.
"""

from __future__ import annotations

import re

from indexer.plainly import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SPECIAL = frozenset(b"*?[\\")
# Nothing longer can match a path that a system call takes.
_LONGEST_PATTERN = 8192
# Of one file, those that are no plain name, path or suffix: 1.5 seconds and 40 MB to compile. Real files have dozens; what
# goes beyond is left out, as git sets no bound and a repository is not trusted.
_MOST_GLOBS = 5_000
_CLASSES = {
    b"alnum": rb"0-9A-Za-z",
    b"alpha": rb"A-Za-z",
    b"blank": rb" \t",
    b"cntrl": rb"\x00-\x1f\x7f",
    b"digit": rb"0-9",
    b"graph": rb"!-~",
    b"lower": rb"a-z",
    b"print": rb" -~",
    b"punct": rb"!-\/:-@\[-`{-~",
    b"space": rb" \t\n\r\x0b\x0c",
    b"upper": rb"A-Z",
    b"xdigit": rb"0-9A-Fa-f",
}
# What a piece of a component can be joined by: one star, or a jump over any number of whole components.
_STAR, _DEEP, _DEEPER, _REST = b"*", b"**/", b"**\\/", b"**"


class _NeverMatchesError(Exception):
    """The pattern is one that git lets match nothing."""


class Rule(NamedTuple):
    """One line. ``glob`` has neither the ``!`` nor the trailing slash any more."""

    glob: bytes
    negated: bool
    directories_only: bool
    anywhere: bool  # no slash in it: held against the last part of a path alone


def parse_lines(data: bytes) -> list[Rule]:
    """Read the lines of an ignore file, comments and blank ones left out, as git does."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    rules = []
    for raw in data.split(b"\n"):
        if not raw or raw.startswith(b"#"):
            continue
        line = _without_trailing_spaces(raw.removesuffix(b"\r").split(b"\0", 1)[0])
        negated = line.startswith(b"!")
        glob = line[1:] if negated else line
        directories_only = glob.endswith(b"/")
        if directories_only:
            glob = glob[:-1]
        if glob and len(glob) <= _LONGEST_PATTERN:
            rules.append(Rule(glob, negated, directories_only, b"/" not in glob))
    return rules


def _without_trailing_spaces(line: bytes) -> bytes:
    """Cut trailing spaces, but for an escaped one."""
    cut = line.rstrip(b" ")
    if len(cut) == len(line):
        return line
    backslashes = len(cut) - len(cut.rstrip(b"\\"))
    return cut + b" " if backslashes % 2 else cut


def translate(rule: Rule) -> bytes | None:
    """Return the rule as a regular expression for a whole path (or last part), None when it matches nothing."""
    glob = rule.glob
    if not rule.anywhere:
        glob = glob.removeprefix(b"/")
    prefix = _literal_prefix(glob)
    try:
        tokens = list(_tokens(glob[prefix:], within_part=rule.anywhere))
    except _NeverMatchesError:
        return None
    return re.escape(glob[:prefix]) + _expression(tokens)


def _literal_prefix(glob: bytes) -> int:
    return next((i for i, byte in enumerate(glob) if byte in _SPECIAL), len(glob))


def _tokens(glob: bytes, *, within_part: bool) -> Iterator[bytes]:
    """Cut a glob into regular expressions of one byte each, and the joints between them."""
    i = 0
    while i < len(glob):
        byte = glob[i : i + 1]
        if byte == b"*":
            joint, i = _stars(glob, i, within_part=within_part)
            yield joint
        elif byte == b"?":
            yield b"[^/]"
            i += 1
        elif byte == b"[":
            members, i = _bracket(glob, i + 1)
            yield members
        else:
            if byte == b"\\":
                i += 1
                byte = glob[i : i + 1]
                if not byte:
                    raise _NeverMatchesError
            yield re.escape(byte)
            i += 1


def _stars(glob: bytes, start: int, *, within_part: bool) -> tuple[bytes, int]:
    """Read a run of stars; two or more that stand between slashes cross directories."""
    end = start
    while glob[end : end + 1] == b"*":
        end += 1
    bounded = start == 0 or glob[start - 1 : start] == b"/"
    if within_part or end - start == 1 or not bounded:
        return _STAR, end
    if end == len(glob):
        return _REST, end
    if glob[end : end + 1] == b"/":
        return _DEEP, end + 1
    if glob[end : end + 2] == b"\\/":
        return _DEEPER, end + 2
    return _STAR, end


def _bracket(glob: bytes, i: int) -> tuple[bytes, int]:
    """Read ``[...]`` from behind its bracket; a slash is never a member."""
    negated = glob[i : i + 1] in {b"!", b"^"}
    i += negated
    members: list[bytes] = []
    previous = b""
    first = True
    while first or glob[i : i + 1] != b"]":
        first = False
        byte = glob[i : i + 1]
        if byte == b"\\":
            i += 1
            byte = glob[i : i + 1]
            members.append(_byte(byte))
        elif byte == b"-" and previous and glob[i + 1 : i + 2] not in {b"", b"]"}:
            i += 1
            if glob[i : i + 1] == b"\\":
                i += 1
            members.append(_range(previous, glob[i : i + 1]))
            byte = b""
        elif glob[i : i + 2] == b"[:":
            named, i = _named_class(glob, i)
            members.append(named)
            byte = b"" if named != rb"\[" else b"["
        else:
            members.append(_byte(byte))
        if i >= len(glob):
            raise _NeverMatchesError
        previous = byte
        i += 1
    inside = b"".join(members)
    if negated:
        return b"[^/" + inside + b"]", i + 1
    return (b"(?!/)[" + inside + b"]" if inside else b"(?!)"), i + 1


def _byte(byte: bytes) -> bytes:
    if not byte:
        raise _NeverMatchesError
    return b"\\x%02x" % byte[0]


def _range(low: bytes, high: bytes) -> bytes:
    if not high:
        raise _NeverMatchesError
    return b"" if low > high else _byte(low) + b"-" + _byte(high)


def _named_class(glob: bytes, i: int) -> tuple[bytes, int]:
    """Read ``[:name:]``; without its end it is a plain bracket. The index returned is that of its last byte."""
    end = glob.find(b"]", i + 2)
    if end < 0:
        raise _NeverMatchesError
    name = glob[i + 2 : end]
    if not name.endswith(b":"):
        return rb"\[", i
    members = _CLASSES.get(name[:-1])
    if members is None:
        raise _NeverMatchesError
    return members, end


def _expression(tokens: Sequence[bytes]) -> bytes:
    """Join the tokens so that no place is tried twice."""
    stretches: list[tuple[bytes, list[bytes]]] = [(b"", [])]
    for token in tokens:
        if token in {_DEEP, _DEEPER, _REST}:
            stretches.append((token, []))
        else:
            stretches[-1][1].append(token)
    out = []
    for number, (joint, stretch) in enumerate(stretches):
        inside = _stretch(stretch)
        last = number == len(stretches) - 1
        if joint in {_DEEP, _DEEPER}:
            many = b"*" if joint == _DEEP else b"+"
            lazy = b"(?:[^/]*/)" + many + b"?" + inside
            out.append(lazy if last else b"(?>" + lazy + b")")
        else:
            out.append(b".*" if joint == _REST else inside)
    return b"".join(out)


def _stretch(tokens: Sequence[bytes]) -> bytes:
    """Translate what lies between two jumps: parts, each an atomic group that ends where the part ends."""
    parts: list[list[bytes]] = [[]]
    for token in tokens:
        if token == b"/":
            parts.append([])
        else:
            parts[-1].append(token)
    return b"/".join(_part(part) for part in parts)


def _part(tokens: Sequence[bytes]) -> bytes:
    pieces: list[list[bytes]] = [[]]
    for token in tokens:
        if token == _STAR:
            pieces.append([])
        else:
            pieces[-1].append(token)
    first, *middle = (b"".join(piece) for piece in pieces)
    if not middle:
        return first
    *middle, last = middle
    inner = b"".join(b"(?>[^/]*?" + piece + b")" for piece in middle if piece)
    return first + b"(?>" + inner + b"[^/]*" + last + rb"(?=/|\Z))"


class _Table:
    """The rules that can match files, or directories: the plain ones by dictionary, the rest by one expression."""

    __slots__ = ("_globs", "_names", "_numbers", "_parts", "_paths", "_suffixes")

    def __init__(self, rules: Sequence[tuple[int, Rule]]) -> None:
        self._names: dict[bytes, int] = {}
        self._suffixes: dict[bytes, int] = {}
        self._paths: dict[bytes, int] = {}
        parts: list[tuple[int, bytes]] = []
        whole: list[tuple[int, bytes]] = []
        for number, rule in rules:
            glob = rule.glob
            if _literal_prefix(glob) == len(glob):
                table = self._names if rule.anywhere else self._paths
                table[glob if rule.anywhere else glob.removeprefix(b"/")] = number
            elif rule.anywhere and glob[:2] == b"*." and _literal_prefix(glob[1:]) == len(glob) - 1:
                self._suffixes[glob[1:]] = number
            elif len(parts) + len(whole) < _MOST_GLOBS and (expression := translate(rule)) is not None:
                (parts if rule.anywhere else whole).append((number, expression))
        self._parts, part_numbers = _alternatives(parts)
        self._globs, glob_numbers = _alternatives(whole)
        self._numbers = (part_numbers, glob_numbers)

    def last(self, path: bytes) -> int:
        """Return the number of the last rule that matches, -1 when none does."""
        name = path[path.rfind(b"/") + 1 :]
        best = max(self._names.get(name, -1), self._paths.get(path, -1))
        if self._suffixes:
            dot = name.find(b".")
            while dot >= 0:
                best = max(best, self._suffixes.get(name[dot:], -1))
                dot = name.find(b".", dot + 1)
        if self._parts is not None and (found := self._parts.fullmatch(name)):
            best = max(best, self._numbers[0][found.lastindex or 0])
        if self._globs is not None and (found := self._globs.fullmatch(path)):
            best = max(best, self._numbers[1][found.lastindex or 0])
        return best


def _alternatives(expressions: list[tuple[int, bytes]]) -> tuple[re.Pattern[bytes] | None, tuple[int, ...]]:
    """Make one expression whose first alternative that matches is the last rule; group n tells which."""
    if not expressions:
        return None, ()
    backwards = expressions[::-1]
    joined = b"|".join(b"(?:" + expression + b")()" for _, expression in backwards)
    return re.compile(joined, re.DOTALL), (-1, *(number for number, _ in backwards))


class Patterns:
    """A compiled ignore file. Paths are bytes, relative to the directory of the file, without a trailing slash."""

    __slots__ = ("_directories", "_files", "_negated")

    def __init__(self, rules: Sequence[Rule]) -> None:
        numbered = list(enumerate(rules))
        self._negated = [rule.negated for rule in rules]
        self._directories = _Table(numbered)
        self._files = _Table([(n, rule) for n, rule in numbered if not rule.directories_only])

    def verdict(self, path: bytes, *, is_directory: bool) -> bool | None:
        """Return True for ignored, False for re-included by a ``!`` line, None when no line speaks of it."""
        table = self._directories if is_directory else self._files
        number = table.last(path)
        return None if number < 0 else not self._negated[number]


def compile_patterns(data: bytes) -> Patterns | None:
    """Compile an ignore file's content; None when there is no rule in it."""
    rules = parse_lines(data)
    return Patterns(rules) if rules else None
