"""Embedders: from texts to vectors of unit length. What every one of them promises is said here, once.

An embedder has

- ``name``, ``dim`` and ``version``: who it is. The store keeps all three; vectors of two embedders, or of two
  versions of one, are never in the same index. Whatever would change any vector changes ``version``;
- ``embed(texts)``: float32 of shape (len(texts), dim), row i for text i, batch first. Rows have length 1 within
  1e-3; the row of a text that says nothing to the embedder (an empty one) is all zeros. The same text gives the
  same row in any batch, process and order. What cannot be embedded raises `EmbedderError`: never fewer rows, never
  a guess.

A *term embedder* also has ``embed_terms(counts)``: the same rows from `tokens.count_terms` of the texts' UTF-8, so
that a text that was counted for the postings is not read again. `hashing` and `static` are of this kind.

A model of your own (a local one, or a client of a server) is a package that is installed beside this one and names
a function without arguments, which returns the embedder, in the entry-point group ``indexer.embedders``::

    [project.entry-points."indexer.embedders"]
    my-model = "my_package:make_embedder"

Then ``embed.model = "my-model"`` selects it. Addresses, keys and time-outs are that package's own business; a
repository can neither choose nor configure it. `load` wraps whatever it loads with `checked`, so that a wrong shape or
type, a value that is not finite or a row that is not of unit length is an error before it reaches the store.
"""

from __future__ import annotations

from indexer.errors import EmbedderError
from indexer.lazily import from_rooms
from indexer.plainly import TYPE_CHECKING

if TYPE_CHECKING:
    from indexer.embed.contract import Embedder, TermEmbedder

__all__ = ["GROUP", "Embedder", "TermEmbedder", "checked", "load"]

GROUP = "indexer.embedders"

__getattr__ = from_rooms(__name__, {"Embedder": "contract", "TermEmbedder": "contract"})


def load(name: str) -> Embedder:
    """Return the embedder of that name, checked. An unknown name or one that cannot be made: `EmbedderError`."""
    if name == "hashing":
        from indexer.embed.hashing import HashingEmbedder

        return checked(HashingEmbedder())
    if name == "static":
        from indexer.embed.later import static

        return static()
    from importlib.metadata import entry_points  # slow to import, and few have a model of their own

    from indexer.embed.contract import Embedder

    found = [point for point in entry_points(group=GROUP) if point.name == name]
    if not found:
        others = sorted({point.name for point in entry_points(group=GROUP)})
        raise EmbedderError(f'embed.model: no embedder is called "{name}"; there are {_list(others)}')
    try:
        made = found[0].load()()
    except Exception as error:
        raise EmbedderError(f'embedder "{name}" ({found[0].value}) could not be made: {error!r}') from error
    if not isinstance(made, Embedder):
        raise EmbedderError(f'embedder "{name}" ({found[0].value}) has not the attributes of an embedder')
    return checked(made)


def _list(others: list[str]) -> str:
    return ", ".join(["hashing", "static", *others])


def checked(embedder: Embedder) -> Embedder:
    """Wrap an embedder so that it raises `EmbedderError` where it does not give what it promised."""
    from indexer.embed.checking import Checked, CheckedTerms  # a run that embeds nothing needs no arrays
    from indexer.embed.contract import TermEmbedder

    if isinstance(embedder, Checked):
        return embedder
    if not isinstance(embedder.dim, int) or embedder.dim < 1:
        raise EmbedderError(f'embedder "{embedder.name}" says it has {embedder.dim!r} dimensions')
    return CheckedTerms(embedder) if isinstance(embedder, TermEmbedder) else Checked(embedder)
