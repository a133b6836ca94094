"""Saves as editors make them: each is one re-embedding, and no question ever sees the file empty in between."""

from __future__ import annotations

import asyncio
import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from indexer.reindex import Indexer
from indexer.reindex import run as run_module
from indexer.serve.jobs import Finished, Message
from indexer.serve.service import LiveService, open_service
from tests.counting import workspace
from tests.serve.test_service import BOUND, paths_with, play

TEXT = "def stays(): pass\n\n\ndef saved_{number}():\n    return {number}\n"


def vim(path: Path, text: str) -> None:
    """``backupcopy=auto``: the old file is moved aside, a new one written in its place, the backup removed."""
    (path.parent / "4913").touch()
    (path.parent / "4913").unlink()
    backup = path.with_name(path.name + "~")
    path.rename(backup)
    path.write_text(text)
    backup.unlink()


def vim_in_place(path: Path, text: str) -> None:
    """``backupcopy=yes``: a copy is kept, the file itself is cut to nothing and written."""
    backup = path.with_name(path.name + "~")
    backup.write_bytes(path.read_bytes())
    path.write_text(text)
    backup.unlink()


def jetbrains(path: Path, text: str) -> None:
    """Safe write: ``___jb_tmp___`` is written, the old file moved to ``___jb_old___``, the new one into its place."""
    new, old = path.with_name(path.name + "___jb_tmp___"), path.with_name(path.name + "___jb_old___")
    new.write_text(text)
    path.rename(old)
    new.rename(path)
    old.unlink()


def vs_code(path: Path, text: str) -> None:
    """In place: cut to nothing, written, flushed."""
    with path.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def sed(path: Path, text: str) -> None:
    """``sed -i``: a temporary file beside it, renamed over it."""
    number = text.rpartition("return ")[2].strip()
    subprocess.run(["sed", "-i", f"s/[0-9][0-9]*/{number}/g", str(path)], check=True)


def temporary_and_rename(path: Path, text: str) -> None:
    new = path.with_name(f".{path.name}.tmp")
    with new.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


SAVES = [vim, vim_in_place, jetbrains, vs_code, sed, temporary_and_rename]


@pytest.mark.parametrize("save", SAVES)
def test_a_save_is_one_embedding(tmp_path: Path, save: Callable[[Path, str], None]) -> None:
    """S-053."""
    path = tmp_path / "edited.py"
    path.write_text(TEXT.format(number=0))

    async def story() -> list[int]:
        async with open_service(workspace(tmp_path)) as service:
            assert await paths_with(service, "stays") == ["edited.py"]
            embedded = listen(service)
            for number in range(1, 4):
                save(path, TEXT.format(number=number))
                assert await paths_with(service, f"saved_{number}") == ["edited.py"]
                assert await paths_with(service, f"saved_{number - 1}") == []
            return embedded

    counts = play(story())
    assert sum(counts) == 3, counts
    assert sorted(path.name for path in tmp_path.iterdir()) == [".indexer", "edited.py"]


def listen(service: LiveService) -> list[int]:
    """Count what each job embeds from now on."""
    counts: list[int] = []
    real = service._on_message

    def on_message(message: Message) -> None:
        if isinstance(message, Finished):
            counts.append(message.report.embedded)
        real(message)

    assert service._updater is not None
    service._updater._tell = on_message
    return counts


@pytest.mark.parametrize("save", SAVES)
def test_the_file_is_never_empty_in_between(tmp_path: Path, save: Callable[[Path, str], None]) -> None:
    """Questions without a pause while the file is saved again and again: what does not change is always there."""
    path = tmp_path / "edited.py"
    path.write_text(TEXT.format(number=0))

    async def story() -> int:
        async with open_service(workspace(tmp_path)) as service:
            await service.view("wait", BOUND)
            asked = 0
            saving = asyncio.create_task(asyncio.to_thread(many))
            while not saving.done():
                snapshot = (await service.view("wait", BOUND)).corpus.snapshot
                if "edited.py" in snapshot.paths:  # some editors move it away for a moment
                    assert "stays" in {snapshot.string(int(symbol)) for symbol in snapshot.symbol}
                asked += 1
            return asked

    def many() -> None:
        for number in range(1, 40):
            save(path, TEXT.format(number=number))

    assert play(story()) > 0


@pytest.mark.parametrize("waits", [True, False])
def test_a_file_that_was_emptied_a_moment_ago_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, waits: bool
) -> None:
    """An editor that takes its time between the emptying and the writing; without the second look it is caught."""
    if not waits:
        monkeypatch.setattr(run_module, "_EMPTIED_NS", 0)
    path = tmp_path / "edited.py"
    path.write_text(TEXT.format(number=0))
    with Indexer(workspace(tmp_path)) as indexer:
        indexer.scan()
        with path.open("w") as file:

            def write() -> None:
                file.write(TEXT.format(number=1))
                file.flush()

            writing = threading.Timer(0.02, write)
            writing.start()
            rows = len(indexer.update(["edited.py"]).snapshot.rows.file)
            writing.join()
    assert rows == (2 if waits else 0)
