"""The room's settings, under the name the room uses; the section itself stands in `indexer.settings`."""

from indexer.settings import ScanSettings

__all__ = ["ScanSettings"]
