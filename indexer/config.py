"""Settings from files: the built-in defaults, then the user's own file, then what the repository may narrow.

The user's file is ``config.toml`` in the platform's configuration folder, or the one named with ``--config``. A
repository's ``.indexer.toml`` is somebody else's text: it may leave more out and say how files are cut, and no
more (DESIGN, invariant 13). An unknown key or a wrong value is a `ConfigError` with the file, the key's path and
what was expected.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from indexer.errors import ConfigError
from indexer.plainly import TYPE_CHECKING
from indexer.settings import Settings

if TYPE_CHECKING:
    from typing import Any

REPOSITORY_FILE = ".indexer.toml"
_MAX_BYTES = 1_000_000


def load(root: Path | None = None, config: Path | None = None) -> Settings:
    """Return the settings in force for ``root``; ``config`` stands in for the user's own file.

    Raises `ConfigError` when a file cannot be read or holds something unexpected, or ``config`` is missing.
    """
    settings = Settings()
    path = config or user_file()
    if config is not None or path.is_file():
        settings = _merged(settings, path, trusted=True)
    if root is not None:
        own = root / REPOSITORY_FILE
        if own.is_symlink():
            raise ConfigError(f"{own}: a symbolic link is not followed; make it a plain file")
        if own.is_file():
            settings = _merged(settings, own, trusted=False)
    if settings.chunk.overlap * 2 > settings.chunk.max_tokens:
        raise ConfigError(
            f"chunk.overlap: expected at most half of chunk.max_tokens ({settings.chunk.max_tokens // 2}), "
            f"got {settings.chunk.overlap}"
        )
    return settings


def _merged(settings: Settings, path: Path, *, trusted: bool) -> Settings:
    from indexer.merging import merge  # here, since most roots have no such file

    return merge(settings, read_toml(path), str(path), trusted=trusted)


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
    import tomllib  # as above

    try:
        if path.stat().st_size > _MAX_BYTES:
            raise ConfigError(f"{path}: larger than {_MAX_BYTES} bytes; that is no settings file")
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from error
    except (
        ValueError,
        RecursionError,
    ) as error:  # not TOML, not UTF-8, a number of too many digits, too deep
        raise ConfigError(f"{path}: not valid TOML: {error}") from error


def index_dir(root: Path, settings: Settings) -> Path:
    """Return the folder of the index of ``root``: ``.indexer`` inside it, or a folder of its own in ``store.dir``.

    One ``store.dir`` can serve many roots: each has a folder named by the root's last part and a hash of its path.
    """
    if not settings.store.dir:
        return root / ".indexer"
    import xxhash  # here, since the usual case needs none

    tag = xxhash.xxh3_64_hexdigest(os.fsencode(root))
    try:
        folder = Path(settings.store.dir).expanduser().absolute()
    except RuntimeError as error:
        raise ConfigError(f'store.dir: "{settings.store.dir}" names a home folder that nobody has') from error
    return folder / f"{root.name or 'root'}-{tag}"
