r"""Answers as a person reads them and as a program does.

File contents and names are somebody else's bytes: control characters, terminal escapes among them, are shown as
``\x1b`` and never sent to the terminal.
"""

from __future__ import annotations

import json
import re
import time

from indexer.plainly import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TextIO

    from indexer.check import Findings
    from indexer.search.calibrate import Calibration
    from indexer.status import Status
    from indexer.types import Hit, Report, Skipped

_SNIPPET_LINES = 6
_LINE_WIDTH = 160
_BOLD, _DIM, _CYAN, _OFF = "\x1b[1m", "\x1b[2m", "\x1b[36m", "\x1b[0m"


def safe(text: str) -> str:
    """``text`` without anything a terminal would act on; a tab becomes four spaces."""
    text = text.replace("\t", "    ")
    if text.isascii() and text.isprintable():
        return text
    from unicodedata import category  # here, since most texts are done with by now

    # Cf holds the bidirectional overrides, with which a line can be made to read as another one.
    unsafe = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    return "".join(ascii(c)[1:-1] if category(c) in unsafe else c for c in text)


class Painter:
    """Colours on a terminal, plain text elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        self._colour = stream.isatty()

    def paint(self, text: str, *codes: str) -> str:
        """``text`` in the colours, or as it is."""
        return f"{''.join(codes)}{text}{_OFF}" if self._colour else text

    def marked(self, line: str, words: Sequence[str]) -> str:
        """``line`` with each of ``words`` in bold, letters' case aside."""
        if not self._colour or not words:
            return line
        found = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
        return re.sub(f"({found})", f"{_BOLD}\\1{_OFF}", line, flags=re.IGNORECASE)


def _title(hit: Hit, painter: Painter, score: str = "") -> str:
    """Where and what a hit is, in a line."""
    between = " > " if hit.kind == "section" else "."  # headings hold dots themselves
    name = between.join(part for part in (hit.scope, hit.symbol) if part)
    place = painter.paint(f"{safe(hit.path)}:{hit.start_line}", _CYAN)
    what = ", ".join(part for part in (hit.kind, hit.language) if part)
    about = painter.paint(f"({what}){score}", _DIM) if what else ""
    stale = " [the file has changed since]" if hit.stale else ""
    return " ".join(part for part in (place, painter.paint(safe(name), _BOLD), about) if part) + stale


def definition_line(hit: Hit, painter: Painter) -> str:
    """One definition in one line, with the line it stands on."""
    text = safe(hit.text.strip()[:_LINE_WIDTH])
    return f"{_title(hit, painter)}  {text}".rstrip()


def hit_lines(hit: Hit, words: Sequence[str], painter: Painter, *, scored: bool = True) -> list[str]:
    """One hit as lines: where and what it is, then the first lines of its text, numbered."""
    lines = [_title(hit, painter, f" {hit.score:.5f}" if scored else "")]
    text = hit.text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n").split("\n") if hit.text else []
    for number, line in enumerate(text[:_SNIPPET_LINES], hit.start_line):
        shown = safe(line[:_LINE_WIDTH])
        lines.append(f"{painter.paint(f'{number:>6}', _DIM)}  {painter.marked(shown, words)}".rstrip())
    if len(text) > _SNIPPET_LINES:
        more = f"        ... {len(text) - _SNIPPET_LINES} more lines, to {hit.end_line}"
        lines.append(painter.paint(more, _DIM))
    lines += _reasons(hit.explain, painter)
    if hit.also:
        places = ", ".join(f"{safe(path)}:{line}" for path, line in hit.also[:3])
        rest = f" and {len(hit.also) - 3} more" if len(hit.also) > 3 else ""
        lines.append(painter.paint(f"        also in {places}{rest}", _DIM))
    return lines


def _reasons(explain: Sequence[Any], painter: Painter) -> list[str]:
    """What a score is made of: each signal, what was seen, and what that adds to the score, in columns."""
    # Through the socket they come as objects.
    rows = [(s["name"], s["value"], s["contribution"]) if isinstance(s, dict) else tuple(s) for s in explain]
    width = max((len(name) for name, _, _ in rows), default=0)
    return [
        painter.paint(
            f"        {safe(name):<{width}}  {value:>8.3f}{f'  {adds:>+8.3f}' if adds else ''}", _DIM
        )
        for name, value, adds in rows
    ]


def calibration_lines(found: Calibration, weak_below: float) -> list[str]:
    """How scores lie, as a table, and what follows for --min-score."""
    width = max(map(len, found.scores))
    quantiles = "".join(f"{f'{percent} %':>9}" for percent in next(iter(found.scores.values())).quantiles)
    lines = [f"{'best score':<{width}}    answers{quantiles}"]
    for name, scores in found.scores.items():
        values = "".join(f"{value:>9.3f}" for value in scores.quantiles.values())
        lines.append(f"{name:<{width}}  {scores.count:>9,}{values}")
    lines.append("")
    if found.sample:
        by = ", ".join(
            f"by {way} {found.first[way]:.0%} first and {found.found[way]:.0%} among the hits"
            for way in found.first
        )
        lines.append(f"{found.sample:,} definitions were asked for: {by}")
        lines.append(
            f"--min-score {found.keeps_right:g} keeps 95 % of the right answers, and {found.nonsense_kept:.0%} of the nonsense"
        )
    lines.append(
        f"--min-score {found.drops_nonsense:g} shuts out 95 % of the nonsense, and {found.right_dropped:.0%} of the right answers"
    )
    weak = ", ".join(
        f"{share:.0%} {'of' if way == 'nonsense' else 'by'} {way}" for way, share in found.weak.items()
    )
    lines.append(f"said to be weak (search.weak_below = {weak_below:g}): {weak}")
    return lines


def report_text(report: Report) -> str:
    """One run in a line."""
    files, chunks = report.files, report.chunks
    changes = [
        f"{count:,} {word}"
        for count, word in (
            (files.added, "added"),
            (files.modified, "modified"),
            (files.renamed, "renamed"),
            (files.removed, "removed"),
        )
        if count
    ]
    return (
        f"{files.scanned:,} files ({', '.join(changes) or 'nothing changed'}; {files.skipped:,} skipped), "
        f"{chunks.total:,} chunks ({chunks.added:,} new, {report.embedded:,} embedded) "
        f"in {report.seconds:.2f} s, generation {report.generation}"
    )


def status_object(status: Status) -> dict[str, Any]:
    """A status as one JSON object."""
    from dataclasses import asdict  # here, since an answer by a daemon is shown without it

    value = asdict(status)
    for key in ("skipped", "fallbacks"):
        value[key] = [dict(item._asdict()) for item in getattr(status, key)]
    return value


def status_lines(status: Status, most: int | None) -> list[str]:
    """A status for a person; of the files of each reason at most ``most`` are named."""
    state = "" if status.complete else " (unfinished: the next reindex goes on from here)"
    languages = ", ".join(f"{name} {count:,}" for name, count in status.languages.items())
    lines = [
        f"root        {status.root}",
        f"index       {status.index} ({status.bytes:,} bytes)",
        f"generation  {status.generation} of epoch {status.epoch}{state}",
        f"embedder    {status.embedder}",
        f"indexed     {status.files:,} files, {status.chunks:,} chunks",
        f"languages   {languages}",
    ]
    if status.encodings:
        counts = ", ".join(f"{name} {count:,}" for name, count in status.encodings.items())
        lines.append(f"encodings   {counts}")
    behind = [f"{count:,} {what}" for what, count in status.pending.items() if count]
    lines.append(f"on disk     {', '.join(behind) or 'nothing has changed since'}")
    lines += [f"unreadable  {folder or '.'}" for folder in status.unknown]
    lines += [f"note        {note}" for note in status.notes]
    return [*lines, *_skipped_lines((*status.skipped, *status.fallbacks), most)]


def daemon_lines(status: dict[str, Any]) -> list[str]:
    """What a daemon says of itself, for a person; ``status`` is the answer to ``index/status``."""
    daemon, watch = status["daemon"], status["watch"]
    state = status["working"] or ("current" if status["current"] else "behind")
    lines = [
        f"daemon      process {daemon['pid']}, {daemon['clients']} clients, since {_moment(status['started'])}",
        f"state       {state}, {status['queue']:,} changes wait, generation {status['generation']}",
        f"watching    {watch['directories']:,} folders ({watch['mode']}, armed anew {watch['rearms']} times)",
    ]
    lines += [f"unwatched   {folder or '.'}" for folder in watch["failed"]]
    lines += [f"problem     {problem}" for problem in (*watch["problems"], *status["problems"])]
    return [*lines, *([f"last error  {status['last_error']}"] if status["last_error"] else [])]


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def _skipped_lines(skipped: Sequence[Skipped], most: int | None) -> list[str]:
    by_reason: dict[str, list[Skipped]] = {}
    for item in skipped:
        by_reason.setdefault(item.reason, []).append(item)
    lines = []
    for reason, items in sorted(by_reason.items()):
        verb = "cut as plain text" if reason == "fallback" else "skipped"
        lines.append(f"{verb}: {reason}, {len(items):,} files")
        lines += [f"    {item.path}{f' ({item.detail})' if item.detail else ''}" for item in items[:most]]
        if most is not None and len(items) > most:
            lines.append(f"    ... {len(items) - most:,} more (--all lists them)")
    return lines


def findings_text(found: Findings) -> str:
    """What a check comes to, in a line."""
    size = f"{found.files:,} files, {found.chunks:,} chunks and {found.questions} questions"
    if not found.problems:
        return f"sound: {size} are as in a new index"
    if found.repaired:
        return f"mended: {len(found.problems)} problems; now {size} are as in a new index"
    return f"not sound: {len(found.problems)} problems; `indexer check --repair` makes the index anew"


def settings_lines(files: dict[str, str], settings: dict[str, dict[str, Any]]) -> list[str]:
    """Settings in force, as TOML, under a comment that names the files they come from."""
    lines = [f"# {whose}: {path}" for whose, path in files.items()]
    for section, values in settings.items():
        lines += ["", f"[{section}]"]
        lines += [f"{key} = {_toml(value)}" for key, value in values.items()]
    return lines


def _toml(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
