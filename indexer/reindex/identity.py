"""What an index of a workspace says of its making."""

from __future__ import annotations

from indexer.plainly import TYPE_CHECKING
from indexer.store.manifest import Identity

if TYPE_CHECKING:
    from indexer.workspace import Workspace


def identity_of(space: Workspace) -> Identity:
    """Return what an index of this workspace says of its making (DESIGN, invariant 12)."""
    embedder = space.embedder
    return Identity(embedder.name, embedder.dim, embedder.version, space.tokenizer, space.cutting)
