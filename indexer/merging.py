"""What may stand in a settings file, and the settings that follow from it.

A number has its bounds and a word its choices. A repository's own file may set a key only where that narrows what is
indexed, or says how it is cut; how its value is merged with the user's is said here too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from indexer.config import user_file
from indexer.errors import ConfigError
from indexer.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping


class _Rule(NamedTuple):
    """The bounds of a number, the choices of a word; ``repository``: replace, lower or add, empty where it may not."""

    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    repository: str = ""

    def __str__(self) -> str:
        """What is expected, behind the name of the type."""
        if self.choices:
            return f", one of {', '.join(self.choices)}"
        return f" from {self.low:g} to {self.high:g}" if self.low is not None else ""

    def admits(self, value: Any) -> bool:
        """Tell whether a value of the right type is within the bounds, or among the choices."""
        if self.choices:
            return value in self.choices
        return self.low is None or self.high is None or bool(self.low <= value <= self.high)


_ANY = _Rule()
RULES = {
    "scan.max_file_bytes": _Rule(1, 100_000_000, repository="lower"),
    "scan.encodings": _Rule(repository="replace"),
    "scan.exclude": _Rule(repository="add"),
    "chunk.max_tokens": _Rule(32, 8192, repository="replace"),
    "chunk.overlap": _Rule(0, 4096, repository="replace"),
    "embed.batch": _Rule(1, 65536),
    "store.keep_generations": _Rule(0, 1_000_000),
    "search.k": _Rule(1, 1000),
    "search.mode": _Rule(choices=("hybrid", "lexical", "dense")),
    "search.min_score": _Rule(0.0, 1e9),
    "search.weak_below": _Rule(0.0, 1e9),
    "worker.processes": _Rule(0, 64),
    "worker.file_timeout": _Rule(0.1, 3600.0),
    "daemon.idle_exit": _Rule(0.0, 1_000_000.0),
    "daemon.log_bytes": _Rule(10_000, 1_000_000_000),
    "watch.settle_ms": _Rule(0, 10_000),
    "watch.max_wait_ms": _Rule(0, 60_000),
    "watch.poll_seconds": _Rule(0.1, 86_400.0),
    "watch.audit_hours": _Rule(0.0, 8760.0),
}


def merge(base: Settings, table: Mapping[str, Any], where: str, *, trusted: bool) -> Settings:
    """Return ``base`` with the values of ``table``; ``where`` names the file in errors."""
    sections = base._asdict()
    for name, values in table.items():
        if name not in sections:
            raise ConfigError(f"{where}: {name}: unknown section; known are {', '.join(sections)}")
        if not isinstance(values, dict):
            raise ConfigError(f"{where}: {name}: expected a table, got {_shown(values)}")
        sections[name] = _merge_section(sections[name], values, where, name, trusted=trusted)
    return Settings(**sections)


def _merge_section(section: Any, values: Mapping[str, Any], where: str, name: str, *, trusted: bool) -> Any:
    known: dict[str, Any] = section._asdict()
    changes: dict[str, Any] = {}
    for key, value in values.items():
        label = f"{where}: {name}.{key}"
        if key not in known:
            raise ConfigError(f"{label}: unknown setting; known in [{name}] are {', '.join(known)}")
        rule = RULES.get(f"{name}.{key}", _ANY)
        new = _checked(rule, known[key], value, label)
        if key == "encodings":
            _check_encodings(new, label)
        changes[key] = new if trusted else _narrowed(rule, known[key], new, label)
    return section._replace(**changes)


def _narrowed(rule: _Rule, mine: Any, theirs: Any, label: str) -> Any:
    """What a repository's value comes to, beside the user's."""
    if rule.repository == "replace":
        return theirs
    if rule.repository == "lower":
        return min(mine, theirs)
    if rule.repository == "add":
        return (*mine, *theirs)
    raise ConfigError(f"{label}: a repository may not set this; put it into your own {user_file()}")


def _checked(rule: _Rule, mine: Any, value: Any, label: str) -> Any:
    """Return ``value`` as the type of what was there before, or raise with what was expected."""
    if isinstance(mine, bool):
        ok, expected = isinstance(value, bool), "true or false"
    elif isinstance(mine, int):
        ok, expected = isinstance(value, int) and not isinstance(value, bool), "a whole number"
    elif isinstance(mine, float):
        ok, expected = isinstance(value, int | float) and not isinstance(value, bool), "a number"
    elif isinstance(mine, str):
        # No name of anything has one, and the system refuses a path with one.
        ok, expected = isinstance(value, str) and "\0" not in value, "a string"
    else:
        ok = isinstance(value, list) and all(isinstance(item, str) for item in value)
        expected, value = "a list of strings", tuple(value) if ok else value
    if not ok or not rule.admits(value):
        raise ConfigError(f"{label}: expected {expected}{rule}, got {_shown(value)}")
    return (
        float(value) if isinstance(mine, float) else value
    )  # a number that is within the bounds is none too large


def _check_encodings(names: tuple[str, ...], label: str) -> None:
    for name in names:
        try:
            b"0".decode(name)  # and not only looked up: what is no encoding of texts (hex, zlib) refuses to
        except UnicodeError:
            continue
        except (LookupError, ValueError) as error:
            raise ConfigError(f"{label}: expected names of text encodings, got {_shown(name)}") from error


def _shown(value: Any) -> str:
    try:
        text = (
            f'"{value}"'
            if isinstance(value, str)
            else str(list(value) if isinstance(value, tuple) else value)
        )
    except (ValueError, RecursionError):  # a number of too many digits, tables too deep
        return "what is too large to show"
    return text if len(text) <= 80 else text[:77] + "..."
