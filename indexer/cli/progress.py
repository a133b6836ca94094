"""How a run is shown: a line that moves on a terminal, a few plain lines in a pipe, nothing when quiet."""

from __future__ import annotations

import time

from indexer.plainly import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO


class Line:
    """A progress line with counts and rate. ``stream`` is where it is drawn; call it as a `Progress`."""

    _EVERY_TERMINAL = 0.1
    _EVERY_PIPE = 10.0

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._moving = stream.isatty()
        self._every = self._EVERY_TERMINAL if self._moving else self._EVERY_PIPE
        self._start = self._last = time.monotonic()
        self._width = 0

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Draw, unless it was drawn a moment ago."""
        now = time.monotonic()
        if now - self._last < self._every:
            return
        self._last = now
        rate = done / max(now - self._start, 1e-9)
        self._draw(f"{stage}: {done:,} of {total:,} files, {rate:,.0f}/s")

    def _draw(self, text: str) -> None:
        if not self._moving:
            print(text, file=self._stream, flush=True)
            return
        done = text.ljust(self._width)
        self._width = len(text)
        print(f"\r{done}", end="", file=self._stream, flush=True)

    def close(self) -> None:
        """Wipe a moving line, so that the result stands where it stood."""
        if self._moving and self._width:
            print("\r" + " " * self._width, end="\r", file=self._stream, flush=True)
            self._width = 0
