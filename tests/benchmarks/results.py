"""What has been measured so far, in one JSON file: a later run adds to it, and takes the place of what it measures anew."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from tests.benchmarks.figures import Measured
from tests.benchmarks.ground import Build

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class Results:
    """Figures by key, each with the date and machine it was measured on, and the builds behind them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.figures: dict[str, Measured] = {}
        self.builds: dict[str, Build] = {}
        self._when: dict[str, str] = {}
        if path.exists():
            kept = json.loads(path.read_text())
            self._when = kept["when"]
            for one in kept["figures"]:
                self.figures[one["key"]] = Measured(**{**one, "samples": tuple(one["samples"])})
            self.builds = {one["name"]: Build(**one) for one in kept["builds"]}

    def add(self, when: str, figures: Iterable[Measured], builds: Iterable[Build]) -> None:
        """Take in what was just measured, and write it down."""
        for one in figures:
            self.figures[one.key], self._when[one.key] = one, when
        self.builds |= {build.name: build for build in builds}
        kept = {
            "when": self._when,
            "figures": [asdict(one) for one in self.figures.values()],
            "builds": [asdict(build) for build in self.builds.values()],
        }
        self._path.write_text(json.dumps(kept, indent=1))
