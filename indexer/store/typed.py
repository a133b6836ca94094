"""JSON read typed: what is on disk is held against a description, and an error carries the path of the key that is wrong.

    segment = record(SegmentEntry, name=text, size=natural)
    segment({"name": "g1", "size": "3"})     ->  WrongError: size: expected int, got str

A reader takes a value, as `json` gives it; where that stands is told by who holds it, once something is wrong. By
hand, since a library that does the same takes as long to load as all that a run needs that finds nothing changed.
"""

from __future__ import annotations

import json
import re

from indexer.plainly import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    T = TypeVar("T")
    Reader = Callable[[Any], T]

_KINDS = {dict: "object", list: "array", str: "str", bool: "bool", int: "int", float: "float"}


class WrongError(ValueError):
    """The value is not what the description says; the message begins with the key's path, unless it is the whole."""

    def __init__(self, what: str, where: str = "") -> None:
        super().__init__(f"{where}: {what}" if where else what)
        self._what, self._where = what, where

    def inside(self, key: str) -> WrongError:
        """The same of what holds the value under that key."""
        dot = "." if self._where and not self._where.startswith("[") else ""
        return WrongError(self._what, f"{key}{dot}{self._where}")


def parse(data: bytes) -> Any:
    """Parse JSON in UTF-8. Raises `WrongError`."""
    try:
        return json.loads(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise WrongError("not UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise WrongError(f"not JSON: {error}") from None


def dump(value: Any) -> bytes:
    """Write JSON in its compact form."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")


def _of(kind: type[T]) -> Reader[T]:
    def read(value: Any) -> T:
        if type(value) is not kind:  # a bool is no int
            raise WrongError(f"expected {_KINDS[kind]}, got {_KINDS.get(type(value), 'null')}")
        found: T = value
        return found

    return read


boolean, whole = _of(bool), _of(int)
_text = _of(str)
_object, _array = _of(dict), _of(list)


def text(value: Any) -> str:
    """Read a text, which JSON's escapes may make of what is none."""
    try:
        _text(value).encode()
    except UnicodeEncodeError:
        raise WrongError("half of a surrogate pair") from None
    found: str = value
    return found


def natural(value: Any) -> int:
    """Read a number that is not negative."""
    if whole(value) < 0:
        raise WrongError("expected int >= 0")
    found: int = value
    return found


def below(bound: int) -> Reader[int]:
    """Read a number from 0 to less than ``bound``."""

    def read(value: Any) -> int:
        found = natural(value)
        if found >= bound:
            raise WrongError(f"expected int < {bound}")
        return found

    return read


def matching(pattern: str) -> Reader[str]:
    """Read a text that is as the pattern says from its beginning to its end."""
    compiled = re.compile(pattern)

    def read(value: Any) -> str:
        if not compiled.fullmatch(text(value)):
            raise WrongError(f"expected str matching regex {pattern}")
        found: str = value
        return found

    return read


def several(item: Reader[T]) -> Reader[tuple[T, ...]]:
    """Read an array of such values."""

    def read(value: Any) -> tuple[T, ...]:
        values, found = _array(value), []
        try:
            for one in values:
                found.append(item(one))  # noqa: PERF401  (its length is told where one is wrong)
        except WrongError as error:
            raise error.inside(f"[{len(found)}]") from None
        return tuple(found)

    return read


def named(item: Reader[T]) -> Reader[dict[str, T]]:
    """Read an object of such values, whatever their names."""

    def read(value: Any) -> dict[str, T]:
        values = _object(value)
        return _each(values, dict.fromkeys(values, item))

    return read


def record(kind: type[T], **readers: Reader[Any]) -> Reader[T]:
    """Read an object as a named tuple: its keys and no others; those that have a default may be missing."""
    needed = [name for name in readers if name not in kind._field_defaults]  # type: ignore[attr-defined]

    def read(value: Any) -> T:
        found = _object(value)
        if not found.keys() <= readers.keys():
            name = next(name for name in found if name not in readers)
            raise WrongError(f"object contains unknown field {name}")
        for name in needed:
            if name not in found:
                raise WrongError(f"object missing required field {name}")
        return kind(**_each(found, readers))

    return read


def _each(values: dict[str, Any], readers: dict[str, Reader[T]]) -> dict[str, T]:
    """Read the values of an object; only where one is wrong is anything done about its path."""
    name, found = "", {}
    try:
        for name, one in values.items():
            found[name] = readers[name](one)
    except WrongError as error:
        raise error.inside(name) from None
    return found
