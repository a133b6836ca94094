"""A root with everything that goes with it: its settings, the folder of its index, its embedder."""

from __future__ import annotations

from indexer import config, embed
from indexer.plainly import TYPE_CHECKING, NamedTuple
from indexer.scan.root import check_untracked, find_root, is_ours
from indexer.versions import CHUNKER, TOKENIZER

if TYPE_CHECKING:
    from pathlib import Path

    from indexer.embed import Embedder
    from indexer.settings import Settings


class Workspace(NamedTuple):
    """What every command is about. ``root`` is absolute, its symbolic links resolved.

    ``settings_file`` is the file that stands in for the user's own, None where none was named.
    """

    root: Path
    index_dir: Path
    settings: Settings
    embedder: Embedder
    settings_file: Path | None = None

    @property
    def cutting(self) -> str:
        """Everything besides a file's bytes that its chunks depend on, as one string for the store's identity."""
        size = f"{self.settings.chunk.max_tokens}/{self.settings.chunk.overlap}"
        scan = self.settings.scan
        return f"{CHUNKER} {size} {','.join(scan.encodings)} secrets={scan.secrets}"

    @property
    def tokenizer(self) -> str:
        """The tokenizer's version, for the store's identity."""
        return TOKENIZER


def open_workspace(
    start: Path,
    *,
    named: bool,
    settings_file: Path | None = None,
    any_root: bool = False,
    ask_git: bool = True,
) -> Workspace:
    """Find the root of ``start`` and read its settings.

    ``named``: the user named this very folder. ``any_root`` lets ``/`` and the home folder be roots. ``ask_git`` is as
    in `open_root`. Raises `RootError`, `ConfigError` or `EmbedderError` with one line that says what to do.
    """
    root = find_root(start, named=named, any_root=any_root)
    return open_root(root, settings_file=settings_file, ask_git=ask_git)


def open_root(root: Path, *, settings_file: Path | None = None, ask_git: bool = True) -> Workspace:
    """Read the settings of this very root, which `find_root` found. Raises as `open_workspace`.

    ``ask_git``: whether the index came with the repository; if not, whoever opens it has to (`check_index_dir`).
    """
    settings = config.load(root, settings_file)
    index_dir = config.index_dir(root, settings)
    if is_ours(index_dir) and ask_git:
        check_untracked(root, index_dir)
    return Workspace(root, index_dir, settings, embed.load(settings.embed.model), settings_file)
