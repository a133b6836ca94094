"""Settings from files: the built-in defaults, then the user's own file, then what the repository may narrow.

The user's file is ``config.toml`` in the platform's configuration folder, or the one named with ``--config``. A
repository's ``.indexer.toml`` is somebody else's text: it may leave more out and say how files are cut, and no
more (DESIGN, invariant 13). An unknown key or a wrong value is a `ConfigError` with the file, the key's path and
what was expected.
"""

from __future__ import annotations

import codecs
import os
import sys
from dataclasses import Field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from indexer.errors import ConfigError
from indexer.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

REPOSITORY_FILE = ".indexer.toml"
_MAX_BYTES = 1_000_000


def load(root: Path | None = None, config: Path | None = None) -> Settings:
    """Return the settings in force for ``root``; ``config`` stands in for the user's own file.

    Raises `ConfigError` when a file cannot be read or holds something unexpected, or ``config`` is missing.
    """
    settings = Settings()
    path = config or user_file()
    if config is not None or path.is_file():
        settings = merge(settings, read_toml(path), str(path), trusted=True)
    if root is not None:
        own = root / REPOSITORY_FILE
        if own.is_symlink():
            raise ConfigError(f"{own}: a symbolic link is not followed; make it a plain file")
        if own.is_file():
            settings = merge(settings, read_toml(own), str(own), trusted=False)
    if settings.chunk.overlap * 2 > settings.chunk.max_tokens:
        raise ConfigError(
            f"chunk.overlap: expected at most half of chunk.max_tokens ({settings.chunk.max_tokens // 2}), "
            f"got {settings.chunk.overlap}"
        )
    return settings


def user_file() -> Path:
    """Return where the user's own settings live on this platform (the file need not exist)."""
    # As platformdirs has it, which takes longer to load than all the rest here; what is odd is left to it.
    home = os.environ.get("XDG_CONFIG_HOME", "")
    if os.name == "posix" and sys.platform != "darwin" and (not home or home.startswith("/")):
        return Path(home or os.path.expanduser("~/.config"), "indexer", "config.toml")  # noqa: PTH111
    import platformdirs

    return Path(platformdirs.user_config_dir("indexer", appauthor=False)) / "config.toml"


def read_toml(path: Path) -> dict[str, Any]:
    """Parse one settings file; `ConfigError` names it when that fails."""
    import tomllib  # here, since most roots have none

    try:
        if path.stat().st_size > _MAX_BYTES:
            raise ConfigError(f"{path}: larger than {_MAX_BYTES} bytes; that is no settings file")
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error


def merge(base: Settings, table: Mapping[str, Any], where: str, *, trusted: bool) -> Settings:
    """Return ``base`` with the values of ``table``; ``where`` names the file in errors."""
    sections = {section.name: getattr(base, section.name) for section in fields(Settings)}
    for name, values in table.items():
        if name not in sections:
            raise ConfigError(f"{where}: {name}: unknown section; known are {', '.join(sections)}")
        if not isinstance(values, dict):
            raise ConfigError(f"{where}: {name}: expected a table, got {_shown(values)}")
        sections[name] = _merge_section(sections[name], values, where, name, trusted=trusted)
    return Settings(**sections)


def _merge_section(section: Any, values: Mapping[str, Any], where: str, name: str, *, trusted: bool) -> Any:
    known = {field.name: field for field in fields(section)}
    changes: dict[str, Any] = {}
    for key, value in values.items():
        label = f"{where}: {name}.{key}"
        if key not in known:
            raise ConfigError(f"{label}: unknown setting; known in [{name}] are {', '.join(known)}")
        new = _checked(known[key], value, label)
        changes[key] = new if trusted else _narrowed(known[key], getattr(section, key), new, label)
    return replace(section, **changes)


def _narrowed(field: Field[Any], mine: Any, theirs: Any, label: str) -> Any:
    """What a repository's value comes to, beside the user's."""
    rule = field.metadata["repository"]
    if rule == "replace":
        return theirs
    if rule == "lower":
        return min(mine, theirs)
    if rule == "add":
        return (*mine, *theirs)
    raise ConfigError(f"{label}: a repository may not set this; put it into your own {user_file()}")


def _checked(field: Field[Any], value: Any, label: str) -> Any:
    """Return ``value`` as the field's type, or raise with what was expected."""
    default = field.default
    if isinstance(default, bool):
        ok, expected = isinstance(value, bool), "true or false"
    elif isinstance(default, int):
        ok, expected = isinstance(value, int) and not isinstance(value, bool), "a whole number"
    elif isinstance(default, float):
        ok, expected = isinstance(value, int | float) and not isinstance(value, bool), "a number"
        value = float(value) if ok else value
    elif isinstance(default, str):
        ok, expected = isinstance(value, str), "a string"
    else:
        ok = isinstance(value, list) and all(isinstance(item, str) for item in value)
        expected, value = "a list of strings", tuple(value) if ok else value
    expected += _bounds(field)
    if not ok or not _within(field, value):
        raise ConfigError(f"{label}: expected {expected}, got {_shown(value)}")
    _check_encodings(field, value, label)
    return value


def _bounds(field: Field[Any]) -> str:
    low, high, choices = (field.metadata[key] for key in ("low", "high", "choices"))
    if choices:
        return f", one of {', '.join(choices)}"
    return f" from {low:g} to {high:g}" if low is not None else ""


def _within(field: Field[Any], value: Any) -> bool:
    low, high, choices = (field.metadata[key] for key in ("low", "high", "choices"))
    if choices:
        return value in choices
    return low is None or bool(low <= value <= high)


def _check_encodings(field: Field[Any], value: Any, label: str) -> None:
    if field.name != "encodings":
        return
    for name in cast("tuple[str, ...]", value):
        try:
            codecs.lookup(name)
        except (LookupError, ValueError) as error:
            raise ConfigError(f"{label}: expected names of text encodings, got {_shown(name)}") from error


def _shown(value: Any) -> str:
    text = f'"{value}"' if isinstance(value, str) else str(list(value) if isinstance(value, tuple) else value)
    return text if len(text) <= 80 else text[:77] + "..."


def index_dir(root: Path, settings: Settings) -> Path:
    """Return the folder of the index of ``root``: ``.indexer`` inside it, or a folder of its own in ``store.dir``.

    One ``store.dir`` can serve many roots: each has a folder named by the root's last part and a hash of its path.
    """
    if not settings.store.dir:
        return root / ".indexer"
    import xxhash  # here, since the usual case needs none

    tag = xxhash.xxh3_64_hexdigest(os.fsencode(root))
    return Path(settings.store.dir).expanduser().absolute() / f"{root.name or 'root'}-{tag}"
