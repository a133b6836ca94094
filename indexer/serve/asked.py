"""A job that somebody waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import asyncio

    from indexer.errors import IndexerError
    from indexer.types import Report


class Asked(NamedTuple):
    """The job's kind, and who waits for its report."""

    kind: str
    future: asyncio.Future[Report]

    def fail(self, error: IndexerError) -> None:
        """Tell that it will not be done, unless nobody waits any more."""
        if not self.future.done():
            self.future.set_exception(error)
