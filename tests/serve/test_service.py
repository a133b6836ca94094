"""The service of a real root: never a stale answer, whatever is done to the tree, and no failure it does not outlive."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import shutil
import signal
import statistics
import time
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from indexer import search
from indexer.oneshot import text_reader
from indexer.reindex import reindex
from indexer.search import Request
from indexer.serve.dirt import Dirt
from indexer.serve.events import Event, Generation, Progress, View
from indexer.serve.observer import Observer
from indexer.serve.service import LiveService, open_service
from indexer.workspace import open_root
from tests.beside import unlike_a_new_one
from tests.counting import workspace
from tests.trees import git

T = TypeVar("T")
BOUND = 20.0  # generous: no test here is about speed


def play(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def found(view: View, query: str) -> list[str]:
    assert view.fresh, view.reason
    hits = search.search(
        view.corpus, Request(query), embedder=view.space.embedder, read_text=text_reader(view.space)
    )
    return [hit.path for hit in hits if hit.symbol == query]


async def paths_with(service: LiveService, name: str) -> list[str]:
    return found(await service.view("wait", BOUND), name)


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    top = tmp_path / "tree"
    (top / "pkg").mkdir(parents=True)
    (top / "pkg" / "a.py").write_text("def first_thing(): pass\n")
    yield top
    shutil.rmtree(top, ignore_errors=True)


def equal_to_fresh(service: LiveService, view: View) -> list[str]:
    return unlike_a_new_one(service.space, view.corpus.snapshot)


def test_a_question_holds_every_change_before_it(root: Path) -> None:
    async def story() -> None:
        async with open_service(workspace(root)) as service:
            assert await paths_with(service, "first_thing") == ["pkg/a.py"]
            (root / "pkg" / "a.py").write_text("def second_thing(): pass\n")
            assert await paths_with(service, "second_thing") == ["pkg/a.py"]
            assert await paths_with(service, "first_thing") == []
            (root / "new" / "deep").mkdir(parents=True)
            (root / "new" / "deep" / "b.py").write_text("def third_thing(): pass\n")
            assert await paths_with(service, "third_thing") == ["new/deep/b.py"]
            (root / "new").rename(root / "old")
            assert await paths_with(service, "third_thing") == ["old/deep/b.py"]
            shutil.rmtree(root / "old")
            assert await paths_with(service, "third_thing") == []
            assert service.status().current
            assert equal_to_fresh(service, await service.view("wait", BOUND)) == []

    play(story())


def test_it_is_not_current_before_the_first_scan(root: Path) -> None:
    reindex(workspace(root))
    (root / "pkg" / "a.py").write_text("def while_nobody_watched(): pass\n")

    async def story() -> None:
        async with open_service(workspace(root)) as service:
            assert not service.status().current
            assert not (await service.view("now", 0.0)).fresh
            assert await paths_with(service, "while_nobody_watched") == ["pkg/a.py"]
            assert service.status().current

    play(story())


async def rounds(root: Path, service: LiveService, count: int, seed: int, files: int = 50) -> list[float]:
    """Write, create, move or delete at random among the files, and ask at once; return the waits in seconds."""
    chance = random.Random(seed)
    mine = root / f"client{seed}"
    mine.mkdir(exist_ok=True)
    content: dict[str, str] = {}
    waits = []
    for number in range(count):
        name = f"f{chance.randrange(files)}.py"
        symbol = f"symbol_{seed}_{number}"
        what = chance.choice(["write", "write", "write", "atomic", "move", "delete"])
        if what in {"write", "atomic"} or name not in content:
            target = mine / (f".{name}.tmp" if what == "atomic" else name)
            target.write_text(f"def {symbol}():\n    return {number}\n")
            if what == "atomic":
                target.replace(mine / name)
            content[name] = symbol
        elif what == "move":
            other = f"f{chance.randrange(files)}.py"
            (mine / name).replace(mine / other)
            content[other] = symbol = content.pop(name)
            name = other
        else:
            (mine / name).unlink()
            symbol = content.pop(name)
        start = time.perf_counter()
        paths = await paths_with(service, symbol)
        waits.append(time.perf_counter() - start)
        expected = [f"client{seed}/{name}"] if content.get(name) == symbol else []
        assert paths == expected, f"round {number}: {what} {name}: {paths}"
    return waits


async def two_clients(root: Path, count: int) -> list[float]:
    async with open_service(workspace(root)) as service:
        await service.view("wait", BOUND)
        both = await asyncio.gather(*(rounds(root, service, count, seed) for seed in (1, 2)))
        assert equal_to_fresh(service, await service.view("wait", BOUND)) == []
        return [wait for waits in both for wait in waits]


def test_no_answer_is_stale(root: Path) -> None:
    assert len(play(two_clients(root, 60))) == 120


@pytest.mark.slow
def test_no_answer_of_ten_thousand_is_stale(root: Path) -> None:
    waits = play(two_clients(root, 5000))
    ranked = sorted(waits)
    print(
        f"wait p50 {statistics.median(waits) * 1e3:.1f} ms, p99 {ranked[int(len(ranked) * 0.99)] * 1e3:.1f} ms"
    )


def test_without_the_cookie_stale_answers_are_found(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault: a question that does not wait for its cookie."""

    async def at_once(self: Observer) -> None:
        return None

    monkeypatch.setattr(Observer, "caught_up", at_once)
    with pytest.raises(AssertionError, match="round"):
        play(two_clients(root, 200))


def test_nothing_is_current_while_new_settings_wait_for_their_scan() -> None:
    """The scan of the old ones may have ended just before they took effect: all that was seen had been done."""
    dirt = Dirt()
    dirt.add(rescan="the rules have changed")
    dirt.take(1)
    dirt.ended()
    dirt.failed("the settings have changed")
    assert dirt.done < dirt.seen
    assert dirt.take(2).kind == "scan"
    dirt.ended()
    assert dirt.done == dirt.seen


def test_many_ask_at_once(root: Path) -> None:
    async def story() -> None:
        async with open_service(workspace(root)) as service:
            (root / "b.py").write_text("def asked_by_many(): pass\n")
            answers = await asyncio.gather(*(paths_with(service, "asked_by_many") for _ in range(200)))
            assert answers == [["b.py"]] * 200

    play(story())


def test_rules_take_effect_at_once(root: Path) -> None:
    """S-039, S-041."""

    async def story() -> None:
        async with open_service(workspace(root)) as service:
            assert await paths_with(service, "first_thing") == ["pkg/a.py"]
            (root / ".gitignore").write_text("pkg/\n")
            assert await paths_with(service, "first_thing") == []
            (root / "pkg" / "a.py").write_text("def first_thing(): return 2\n")
            assert await paths_with(service, "first_thing") == []
            (root / ".gitignore").write_text("")
            assert await paths_with(service, "first_thing") == ["pkg/a.py"]
            (root / "pkg" / "a.py").write_text("def changed_after(): pass\n")
            assert await paths_with(service, "changed_after") == ["pkg/a.py"]

    play(story())


def test_settings_take_effect_at_once(root: Path) -> None:
    async def story() -> None:
        async with open_service(workspace(root)) as service:
            assert await paths_with(service, "first_thing") == ["pkg/a.py"]
            for _ in range(5):
                (root / ".indexer.toml").write_text("[scan]\nexclude = ['pkg']\n")
                assert await paths_with(service, "first_thing") == []
                (root / ".indexer.toml").write_text("[scan]\nexclude = 5\n")
                assert await paths_with(service, "first_thing") == []
                assert any("scan.exclude" in problem for problem in service.status().problems)
                (root / ".indexer.toml").unlink()
                assert await paths_with(service, "first_thing") == ["pkg/a.py"]
                assert service.status().problems == ()

    play(story())


def test_settings_that_changed_before_anything_was_watched(root: Path) -> None:
    space = open_root(root)
    (root / ".indexer.toml").write_text("[scan]\nexclude = ['pkg']\n")

    async def story() -> None:
        async with open_service(space) as service:
            assert await paths_with(service, "first_thing") == []

    play(story())


async def eventually(is_so: Any, seconds: float = BOUND) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if await is_so():
            return True
        await asyncio.sleep(0.02)
    return False


def test_the_users_own_settings_take_effect_too(root: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text("")

    async def story() -> None:
        async with open_service(open_root(root, settings_file=mine)) as service:
            assert await paths_with(service, "first_thing") == ["pkg/a.py"]
            mine.write_text("[scan]\nexclude = ['pkg']\n")
            assert await paths_with(service, "first_thing") == []
            mine.write_text("[watch]\npoll_seconds = 7.0\nsettle_ms = 33\n")
            assert await paths_with(service, "first_thing") == ["pkg/a.py"]
            watch = service._observer._watch
            assert watch is not None
            assert (watch._source.poll_seconds, watch._inbox._settle) == (7.0, 0.033)

    play(story())


def test_a_branch_that_is_checked_out_answers_at_once(root: Path) -> None:
    """S-063, S-065."""
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "one")
    git(root, "checkout", "-q", "-b", "other")
    (root / "pkg" / "a.py").write_text("def on_the_other_branch(): pass\n")
    (root / "pkg" / "b.py").write_text("def also_there(): pass\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "two")

    async def story() -> None:
        async with open_service(workspace(root)) as service:
            assert await paths_with(service, "on_the_other_branch") == ["pkg/a.py"]
            for _ in range(3):
                git(root, "checkout", "-q", "main")
                assert await paths_with(service, "first_thing") == ["pkg/a.py"]
                assert await paths_with(service, "also_there") == []
                git(root, "checkout", "-q", "other")
                assert await paths_with(service, "also_there") == ["pkg/b.py"]

    play(story())


def test_the_updater_may_die_at_any_time(root: Path) -> None:
    async def story() -> None:
        async with open_service(workspace(root)) as service:
            await service.view("wait", BOUND)
            for number in range(5):
                assert service._updater is not None
                (root / "pkg" / "a.py").write_text(f"def after_death_{number}(): pass\n")
                await asyncio.sleep(0.01 * number)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(service._updater.pid, signal.SIGKILL)
                assert await paths_with(service, f"after_death_{number}") == ["pkg/a.py"]
            assert equal_to_fresh(service, await service.view("wait", BOUND)) == []

    play(story())


def test_events_tell_each_run_to_its_end(root: Path) -> None:
    events: list[Event] = []

    async def story() -> None:
        async with open_service(workspace(root)) as service:
            leave = service.subscribe(events.append)
            await service.view("wait", BOUND)
            report = await service.reindex(full=True)
            assert report.files.added == 1
            leave()
            known = len(events)
            (root / "b.py").write_text("def unheard(): pass\n")
            await service.view("wait", BOUND)
            assert len(events) == known

    play(story())
    generations = [event.generation for event in events if isinstance(event, Generation)]
    assert generations == sorted(set(generations))
    runs = {event.run for event in events if isinstance(event, Progress)}
    ended = [event.run for event in events if isinstance(event, Progress) and event.ended]
    assert sorted(ended) == sorted(runs)


def test_a_bound_that_is_hit_is_said(root: Path) -> None:
    async def story() -> None:
        async with open_service(workspace(root)) as service:
            await service.view("wait", BOUND)
            assert service._updater is not None
            os.kill(service._updater.pid, signal.SIGSTOP)
            (root / "b.py").write_text("def in_vain(): pass\n")
            view = await service.view("wait", 0.3)
            assert not view.fresh
            assert "not current within 0.3 s" in view.reason
            assert "as it stands" in (await service.view("now", 0.0)).reason
            os.kill(service._updater.pid, signal.SIGCONT)
            assert await paths_with(service, "in_vain") == ["b.py"]

    play(story())


def test_another_writer_is_waited_for(root: Path) -> None:
    from indexer.store.lock import RootLock

    async def story() -> None:
        lock = RootLock(root)
        async with open_service(workspace(root)) as service:
            with pytest.raises(Exception, match="no index yet"):
                await service.view("wait", 1.0)

            async def told() -> bool:
                return "another indexer" in service.status().last_error

            assert await eventually(told)
            lock.close()
            assert await paths_with(service, "first_thing") == ["pkg/a.py"]

    play(story())


def test_a_root_that_is_replaced_is_noticed_and_healed(root: Path) -> None:
    async def story() -> None:
        async with open_service(workspace(root)) as service:
            await service.view("wait", BOUND)
            root.rename(root.with_name("moved"))
            assert await eventually(lambda: behind(service))
            (root / "pkg").mkdir(parents=True)
            (root / "pkg" / "z.py").write_text("def in_the_new_root(): pass\n")
            assert await eventually(lambda: healed(service))

    async def behind(service: LiveService) -> bool:
        return not (await service.view("wait", 0.5)).fresh

    async def healed(service: LiveService) -> bool:
        view = await service.view("wait", 0.5)
        return view.fresh and found(view, "in_the_new_root") == ["pkg/z.py"]

    play(story())


def test_a_closed_service_leaves_nothing_behind(root: Path) -> None:
    async def story() -> int:
        async with open_service(workspace(root)) as service:
            await service.view("wait", BOUND)
            assert service._updater is not None
            return service._updater.pid

    pid = play(story())
    assert not Path(f"/proc/{pid}").exists()
