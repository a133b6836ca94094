"""One generation, immutable and therefore shared without locks; columns are made when first asked for.

Files and rows stand in the canonical order (path bytes, then first byte of the chunk), so that nothing a reader sees
depends on the order in which things were written.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from indexer.store import live
from indexer.store.format import NONE, Binding, Block, File, Flag, Number, Stat
from indexer.store.live import NO_IDS, Files, Rows, bytes_of, texts
from indexer.store.pending import encode
from indexer.store.places import decode, decode_spans
from indexer.store.since import since
from indexer.store.tables import Bool, take_ragged, unsort_keys
from indexer.types import Chunk, FileRecord, FileStat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from indexer.store.dump import Dump
    from indexer.store.manifest import Identity
    from indexer.store.since import Since
    from indexer.store.stack import Held, Stack
    from indexer.store.tables import F32, I8, I64, U8, U32, U64, Tables
    from indexer.types import Span

_STRINGS = _PATHS = 4096  # texts, and files, that a snapshot remembers


class Snapshot:
    """A generation that can be read for as long as it is held, whatever a writer does meanwhile."""

    def __init__(
        self,
        stack: Stack,
        *,
        epoch: str,
        generation: int,
        complete: bool,
        identity: Identity,
        before: Snapshot | None = None,
    ) -> None:
        """``before``, an earlier generation, lends what both have in common."""
        trunk = before and (before.since.trunk if before.since else before)
        self.stack = stack
        self.since: Since | None = since(trunk, stack) if trunk else None
        self.epoch = epoch
        self.generation = generation
        self.complete = complete
        self.identity = identity

    # --- files

    @cached_property
    def live_files(self) -> tuple[I64, list[bytes]]:
        """Rows of the live files in the joined table (f,), and their paths, by path bytes."""
        return live.live_files(self.stack, self.since)

    @property
    def _file_rows(self) -> I64:
        return self.live_files[0]

    @cached_property
    def files(self) -> Files:
        """Columns of the live files."""
        return live.files(self.stack, self._file_rows, self.since)

    @property
    def names(self) -> list[bytes]:
        """Paths of the live files, in their order, as bytes."""
        return self.live_files[1]

    @cached_property
    def paths(self) -> list[str]:
        """Paths of the live files, in their order."""
        if not self.since:
            return texts(self.names)
        edits, paths = self.since.files, self.since.trunk.paths
        return paths if edits.in_place else edits.splice_list(paths, texts(self.since.names))

    def known(self) -> tuple[dict[str, FileStat], set[str]]:
        """Stats of all live files by path, and the paths whose stat proves nothing yet (racy)."""
        if not self.paths:
            return {}, set()
        stats = [self.stack.column("file_stats", row)[self._file_rows] for row in range(4)]
        times = [stats[Stat.MTIME].view(np.int64).tolist(), stats[Stat.CTIME].view(np.int64).tolist()]
        columns = zip(self.paths, stats[Stat.SIZE].tolist(), *times, stats[Stat.INODE].tolist(), strict=True)
        # `FileStat._make` does the same in three times the time.
        known = dict(zip(self.paths, map(partial(tuple.__new__, FileStat), columns), strict=True))
        racy = np.flatnonzero(self.files.flags & Flag.RACY).tolist()
        return known, {self.paths[at] for at in racy}

    def file_of(self, path: str) -> int | None:
        """Place of a live file in `files`, by path."""
        names, wanted = self.names, encode(path)
        at = bisect_left(names, wanted)
        return at if at < len(names) and names[at] == wanted else None

    @cached_property
    def _live_file(self) -> Callable[[str], tuple[Tables, int] | None]:
        """Where the row of a live file is; the latest are remembered, as a run asks for each several times."""
        return lru_cache(_PATHS)(partial(live.newest, self.stack))

    @cached_property
    def record(self) -> Callable[[str], FileRecord | None]:
        """What is known of one live file, by path; the latest are remembered."""
        where, string = self._live_file, self.string

        def read(path: str) -> FileRecord | None:
            place = where(path)
            return None if place is None else live.record(path, *place, string)

        return lru_cache(_PATHS)(read)

    def block_of(self, path: str) -> int | None:
        """Block that a live file is bound to."""
        place = self._live_file(path)
        block = NONE if place is None else int(place[0].files[File.BLOCK, place[1]])
        return None if block == NONE else block

    def content_keys_of(self, path: str) -> U64:
        """Keys (n, 2) of the contents that a live file's chunks have; none for a path that is not one."""
        block = self.block_of(path)
        if block is None:
            return np.zeros((0, 2), np.uint64)
        tables, row = self.stack.locate("blocks", block)
        start, end = tables.block_offsets[row : row + 2].tolist()
        return self.stack.content_keys(tables.bindings[Binding.CONTENT, start:end].astype(np.int64))

    def imports(self, file: int) -> tuple[str, ...]:
        """What a live file imports, as written."""
        block = int(self.files.block[file])
        if block == NONE:
            return ()
        tables, row = self.stack.locate("blocks", block)
        names = tables.imports[tables.import_offsets[row] : tables.import_offsets[row + 1]]
        return tuple(self.string(name) for name in names.tolist())

    @cached_property
    def imported(self) -> tuple[I64, U32]:
        """What every live file imports: offsets (f + 1,), and string ids that they cut."""
        offsets, ids = np.zeros(len(self.files.block) + 1, np.int64), NO_IDS
        bound = np.flatnonzero(self.files.block != NONE)
        if len(bound):
            cut, at = take_ragged(self.stack.offsets("import_offsets"), self.files.block[bound])
            offsets[bound + 1], ids = np.diff(cut), self.stack.column("imports")[at]
        return np.cumsum(offsets), ids

    def fallback(self, file: int) -> str:
        """Why the file's chunker fell back; empty when it did not."""
        block = int(self.files.block[file])
        if block == NONE:
            return ""
        tables, row = self.stack.locate("blocks", block)
        return self.string(int(tables.blocks[Block.FALLBACK, row]))

    # --- rows

    @cached_property
    def rows(self) -> Rows:
        """Columns of the live rows."""
        if self.since:
            return live.rows_since(self.files, self.since, self.fresh)
        return live.rows(self.stack, self.files)

    @cached_property
    def fresh(self) -> Rows:
        """Columns of the live rows that `since` counts as fresh; all of them where there is no trunk."""
        return live.fresh_rows(self.stack, self.files, self.since) if self.since else self.rows

    def _row_column(self, name: str, column: int, array: str = "bindings") -> U32:
        if self.since:
            before: U32 = getattr(self.since.trunk, name)
            fresh = self.fresh.binding.astype(np.int64)
            return self.since.rows.splice(before, self.stack.gather("bindings", array, fresh, column))
        if not len(self.rows.binding):
            return NO_IDS
        values: U32 = self.stack.column(array, column)[self.rows.binding]
        return values

    @cached_property
    def kind(self) -> U32:
        """String id of each row's kind."""
        return self._row_column("kind", Binding.KIND)

    @cached_property
    def symbol(self) -> U32:
        """String id of each row's symbol."""
        return self._row_column("symbol", Binding.SYMBOL)

    @cached_property
    def scope(self) -> U32:
        """String id of each row's scope."""
        return self._row_column("scope", Binding.SCOPE)

    @cached_property
    def language(self) -> U32:
        """String id of each row's language."""
        return self._row_column("language", Binding.LANGUAGE)

    @cached_property
    def line(self) -> U32:
        """The definition's own line, of each row."""
        return self._row_column("line", Number.LINE, "numbers")

    @cached_property
    def part(self) -> U32:
        """Which part of a definition that was split each row is; 0 for the first and of those that were not."""
        return self._row_column("part", Number.PART, "numbers")

    def parent(self, row: int) -> int:
        """Row of the enclosing definition (of a split one's first part), -1 without one."""
        tables, at = self.stack.locate("bindings", int(self.rows.binding[row]))
        parent = int(tables.numbers[Number.PARENT, at]) - 1
        return parent if parent < 0 else int(self.files.first_row[self.rows.file[row]]) + parent

    @cached_property
    def path(self) -> U32:
        """String id of each row's path."""
        path: U32 = self.files.path[self.rows.file]
        return path

    def spans(self, row: int) -> tuple[Span, ...]:
        """Byte and line ranges of a row."""
        return decode_spans(_place(*self.stack.locate("bindings", int(self.rows.binding[row]))))

    def names_of(self, row: int) -> tuple[str, str, str, str]:
        """Kind, symbol, scope and language of a row."""
        tables, at = self.stack.locate("bindings", int(self.rows.binding[row]))
        kind, symbol, scope, language = map(self.string, tables.bindings[Binding.KIND :, at].tolist())
        return kind, symbol, scope, language

    def chunk(self, row: int) -> Chunk:
        """Give a row as the chunk that was added; ``parent`` counts in the file's chunks."""
        return self.binding(int(self.rows.binding[row]))

    def binding(self, number: int) -> Chunk:
        """Give a binding by its id, live or not."""
        tables, at = self.stack.locate("bindings", number)
        kind, symbol, scope, language = map(self.string, tables.bindings[Binding.KIND :, at].tolist())
        line, parent, part = tables.numbers[:, at].tolist()
        spans, signature, docstring = decode(_place(tables, at))
        first, last = np.searchsorted(tables.base_owners, (at, at + 1)).tolist()
        bases = tuple(map(self.string, tables.bases[first:last].tolist()))
        return Chunk(
            kind, symbol, scope, language, spans, line, signature, docstring, parent - 1, part, bases
        )

    def tables(self) -> Dump:
        """Everything the generation means, free of its history; see `dump`."""
        from indexer.store.dump import dump  # for tests and checks: no other command needs it

        return dump(self)

    # --- contents

    @property
    def content_count(self) -> int:
        """How many content ids there are, bound or not."""
        return self.stack.total.contents

    @cached_property
    def live(self) -> Bool:
        """Whether each content (c,) is bound by a live row."""
        live = np.zeros(self.content_count, np.bool_)
        live[self.rows.content] = True
        return live

    @cached_property
    def content_length(self) -> U32:
        """Number of terms of each content (c,), repetitions counted."""
        lengths: U32 = self.stack.column("content_lengths")
        return lengths

    @cached_property
    def content_keys(self) -> U64:
        """Key of each content (c, 2), by id."""
        keys = [unsort_keys(tables.content_keys, tables.content_rows) for tables in self.stack.tables]
        return np.concatenate([np.zeros((0, 2), np.uint64), *keys])

    def find_contents(self, keys: U64) -> I64:
        """Ids (n,) of contents by their (n, 2) keys, bound or not; -1 where there is none."""
        return self.stack.find("contents", keys)

    def postings(self, term: int) -> tuple[I64, U8]:
        """Live contents that hold a term, ascending, and how often each does."""
        ids, counts = self.stack.postings("body", term)
        bound = self.live[ids]
        return ids[bound], counts[bound]

    def holding(self, terms: U64) -> Held:
        """Contents that hold each of many terms, bound or not, in no order."""
        return self.stack.holding("body", terms)

    def vectors(self) -> Iterator[tuple[int, I8, F32]]:
        """Vectors piece by piece: first content id, int8 (n, dim), scales (n,); dead contents are among them."""
        for segment in self.stack.segments:
            yield segment.base.contents, segment.tables.vectors, segment.tables.scales

    # --- names

    @property
    def string_count(self) -> int:
        """How many string ids there are."""
        return self.stack.total.strings

    @cached_property
    def string_length(self) -> U32:
        """Number of terms of each string (s,)."""
        lengths: U32 = self.stack.column("string_lengths")
        return lengths

    def lengths_of(self, strings: I64) -> U32:
        """Number of terms of some strings (n,)."""
        lengths: U32 = self.stack.gather("strings", "string_lengths", strings)
        return lengths

    def names_holding(self, terms: U64) -> Held:
        """Strings (paths, symbols, scopes, imports ...) that hold each of many terms, in no order.

        Strings of dead rows are among them: count over rows, not over strings.
        """
        return self.stack.holding("name", terms)

    @cached_property
    def string(self) -> Callable[[int], str]:
        """Text of a string; the latest are remembered, as kinds and languages are the same ones again and again."""
        stack = self.stack  # not the snapshot itself, which is to go when nobody holds it any more
        return lru_cache(_STRINGS)(lambda number: stack.string(number).decode("utf-8", "surrogateescape"))

    def strings(self, numbers: U32) -> list[str]:
        """Texts of many strings, whose ids ascend."""
        return [text.decode("utf-8", "surrogateescape") for text in bytes_of(self.stack, numbers)]

    def string_id(self, text: str) -> int | None:
        """Id of a string; equal strings have equal ids."""
        return live.string_id(self.stack, text)


def _place(tables: Tables, binding: int) -> bytes:
    start, end = tables.place_offsets[binding : binding + 2].tolist()
    place: bytes = tables.places[start:end].tobytes()
    return place
