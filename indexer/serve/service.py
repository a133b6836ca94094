"""The service of one root: always current, always answering.

Three threads of things meet on the event loop. The watcher's thread brings batches of what is dirty; the updater's
process takes jobs and makes generations; questions come in and wait for as little as they must. A question that has to
be fresh drops a cookie into a watched folder: once the watcher reports it, every change before the question has been
reported too, and the question waits for the job that takes those changes, and no longer.

Errors never stop the service. What fails is told in the status, tried again after a pause that grows, and until then
answers say that they may be behind the disk, and why.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from indexer.errors import IndexerError, NotIndexedError, RootError, StoreError, WorkerError
from indexer.oneshot import AS_IT_STANDS
from indexer.reindex import identity_of
from indexer.search import Corpus, prepare
from indexer.serve.allocator import collect_from_now_on
from indexer.serve.asked import Asked
from indexer.serve.audit import Auditor
from indexer.serve.background import Background
from indexer.serve.dirt import Dirt
from indexer.serve.events import Feed, Generation, Progress, ServiceStatus, View
from indexer.serve.jobs import AUDIT, FULL, SCAN, Broken, Finished, Going, Job
from indexer.serve.link import Updater
from indexer.serve.observer import Observer
from indexer.serve.retry import Retry
from indexer.serve.unseen import Unseen
from indexer.store import open_snapshot
from indexer.workspace import open_root

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from indexer.serve.events import Freshness, Tell
    from indexer.serve.jobs import Message
    from indexer.store import Snapshot
    from indexer.types import Report
    from indexer.watch import Batch
    from indexer.workspace import Workspace

_log = logging.getLogger(__name__)
_FIRST_ANSWERS = 0.1  # seconds for those that were asked for while the columns were made
_ROOT_GONE = "when it is back it is served again, and `indexer daemon stop` ends this daemon"


@asynccontextmanager
async def open_service(space: Workspace) -> AsyncIterator[LiveService]:
    """Serve a root: start watching, then scan, and go on until the block ends."""
    service = LiveService(space)
    await service.start()
    try:
        yield service
    finally:
        await service.close()


class LiveService:
    """The `Service` over a watcher and an updater process. All of it runs on the event loop's thread."""

    def __init__(self, space: Workspace) -> None:
        self._space = space
        self._corpus: Corpus | None = None
        self._feed = Feed()
        self._dirt = Dirt()
        self._asked: deque[Asked] = deque()
        self._updater: Updater | None = None
        self._observer = Observer(space, self._on_batch)
        self._job: Job | None = None
        self._asked_job: Asked | None = None
        self._jobs = 0
        self._retry = Retry(self._kick)
        self._auditor = Auditor(self._kick)
        self._stage = ""
        self._unseen = Unseen()
        self._last_error = ""
        self._trouble = ""
        self._wrong_settings = ""
        self._warm = asyncio.Event()
        self._kept = False
        self._closed = False
        self._started = time.time()
        self._background = Background(self._note_failure)
        self._reloads: set[asyncio.Task[None]] = set()
        self._reloading = asyncio.Lock()

    # --- the doors

    @property
    def root(self) -> Path:
        """The root that is served."""
        return self._space.root

    @property
    def space(self) -> Workspace:
        """The root with its settings, as they are in force."""
        return self._space

    async def start(self) -> None:
        """Open what index there is; the updater, the watches and the first scan follow by themselves."""
        self._open_generation()
        # Until it has been scanned, nothing is known to be current.
        self._dirt.add(rescan="the daemon has started")
        self._background.start(self._set_out())

    async def _set_out(self) -> None:
        """First what answers, then what keeps that current: side by side, a first answer would take four times as long."""
        try:
            if self._corpus is not None:
                await asyncio.to_thread(prepare, self._corpus, self._space.embedder)
                self._warm.set()
                await asyncio.sleep(_FIRST_ANSWERS)
        finally:
            self._warm.set()
            self._keep_current()
            if not self._closed:
                self._background.start(asyncio.to_thread(collect_from_now_on))

    def _keep_current(self) -> None:
        """Start the updater and the watches, unless they were started; the first scan follows by itself."""
        if self._kept or self._closed:
            return
        self._kept = True
        self._updater = Updater(self._space, self._on_message)
        self._background.start(self._arm())

    async def view(self, freshness: Freshness, timeout: float) -> View:  # noqa: ASYNC109  (it never raises: it is said in the answer)
        """Return the generation to answer from; see `Service`."""
        reason = AS_IT_STANDS
        if freshness == "wait":
            try:
                async with asyncio.timeout(timeout):
                    await self._current()
                reason = self._blind_spots()
            except TimeoutError:
                reason = self._why_behind(timeout)
        await self._warm.wait()  # rather than make the same columns beside it
        if self._corpus is None:
            raise NotIndexedError(f"{self.root}: there is no index yet: {reason}; ask again in a while")
        return View(self._corpus, self._space, reason)

    async def reindex(self, *, full: bool) -> Report:
        """Scan everything, or make the index anew, and report."""
        self._keep_current()
        future: asyncio.Future[Report] = asyncio.get_running_loop().create_future()
        self._asked.append(Asked(FULL if full else SCAN, future))
        self._kick()
        return await future

    def status(self) -> ServiceStatus:
        """Tell how things stand."""
        snapshot = None if self._corpus is None else self._corpus.snapshot
        problems = [self._trouble, self._wrong_settings, *self._unseen.problems()]
        return ServiceStatus(
            root=str(self.root),
            epoch=snapshot.epoch if snapshot else "",
            generation=snapshot.generation if snapshot else 0,
            complete=bool(snapshot and snapshot.complete),
            current=self._is_current(),
            files=len(snapshot.files.path) if snapshot else 0,
            chunks=len(snapshot.rows.content) if snapshot else 0,
            embedder=self._space.embedder.name,
            queue=len(self._dirt) + len(self._asked),
            working=self._stage if self._job else "",
            watch=self._observer.status(),
            problems=tuple(filter(None, problems)),
            last_error=self._last_error,
            started=self._started,
        )

    def subscribe(self, tell: Tell) -> Callable[[], None]:
        """Have every event told from now on."""
        return self._feed.subscribe(tell)

    async def close(self) -> None:
        """Stop watching and writing. Who still waits for a job is told that it will not be done."""
        self._closed = True
        self._retry.cancel()
        self._auditor.close()
        for asked in [*self._asked, *([self._asked_job] if self._asked_job else [])]:
            asked.fail(WorkerError("the daemon was stopped"))
        self._end_run("the daemon was stopped")
        self._background.cancel()
        await asyncio.gather(self._observer.close(), *([self._updater.close()] if self._updater else []))

    # --- freshness

    async def _current(self) -> None:
        """Wait until every change made before the call is in the generation that answers."""
        self._keep_current()
        await self._observer.armed()
        if self._observer.is_blind():
            self._dirt.add(rescan="nothing is watched")
            self._read_again(rules=False)
        else:
            await self._observer.caught_up()
        if self._reloads:  # new settings, of which the question is to hold the effect too
            await asyncio.wait(set(self._reloads))
        seen = self._dirt.seen
        self._kick(at_once=True)
        while self._dirt.done < seen or self._corpus is None:
            await self._dirt.done_up_to(seen)

    def _is_current(self) -> bool:
        known = self._dirt.done == self._dirt.seen and not len(self._dirt)
        return known and not self._trouble and self._corpus is not None

    def _blind_spots(self) -> str:
        """What keeps even an index that is up to date from being sure."""
        return self._trouble or str(self._unseen)

    def _why_behind(self, timeout: float) -> str:
        if self._trouble:
            return self._trouble
        if self._last_error:
            return self._last_error
        doing = f"{self._stage} is under way" if self._job else "the watcher has not reported yet"
        return f"not current within {timeout:g} s: {doing}"

    # --- from the watcher

    async def _arm(self) -> None:
        await self._observer.start()
        self._dirt.add(rescan="the watches are armed")  # whatever was read before may have changed unseen
        self._read_again(rules=False)

    def _on_batch(self, batch: Batch) -> None:
        """Take in what the watcher saw. The observer has dealt with the batch's cookies."""
        if batch.root_gone:
            if not self._trouble:
                self._background.start(self._restart_updater(batch.root_gone))
            self._trouble = f"{batch.root_gone}; {_ROOT_GONE}"
        elif self._trouble and batch.rescan:
            self._trouble = ""
        rescan = batch.rescan or ("the rules have changed" if batch.rules_changed else "")
        self._dirt.add(batch.paths, batch.trees, rescan)
        if rescan:  # where a file's change may have gone unseen, one of the settings may have
            self._read_again(rules=batch.rules_changed)
        else:
            self._kick()

    def _read_again(self, *, rules: bool) -> None:
        """Read the settings anew, and with ``rules`` the rules; no question that comes now is answered before."""
        task = self._background.start(self._reload(rules=rules))
        self._reloads.add(task)
        task.add_done_callback(self._reloads.discard)

    async def _reload(self, *, rules: bool) -> None:
        """Go by the settings and the rules as they are now; the scan that was asked for follows."""
        async with self._reloading:  # what was read first must not be set last
            space = self._space
            try:
                space = await asyncio.to_thread(open_root, self.root, settings_file=space.settings_file)
                self._wrong_settings = ""
            except IndexerError as error:
                self._wrong_settings = f"{error}; the settings before go on holding"
            if space.settings != self._space.settings:
                self._space = space
                rules = True
                self._plan_audit()
                await self._restart_updater("the settings have changed")
            if rules:
                await self._observer.new_rules(self._space)
            self._kick()

    # --- to and from the updater

    def _kick(self, *, at_once: bool = False) -> None:
        """Give the updater the next job, if it has none and there is something to do."""
        if self._closed or self._job or self._updater is None or (self._retry.waiting and not at_once):
            return
        if self._trouble:
            while self._asked:
                self._asked.popleft().fail(RootError(self._trouble))
            return
        if not self._updater.alive:
            self._updater = Updater(self._space, self._on_message)
        if not self._asked and not len(self._dirt):
            self._give_slice()
            return
        self._jobs += 1
        if self._asked:
            self._asked_job = self._asked.popleft()
            self._dirt.took_everything()
            job = Job(self._jobs, self._asked_job.kind)
        else:
            job = self._dirt.take(self._jobs)
        self._feed.tell(Progress(job.number, "running", job.kind))
        self._give(job)

    def _give(self, job: Job) -> None:
        assert self._updater is not None
        self._job, self._stage = job, job.kind
        self._updater.give(job)

    # --- the audit

    def _plan_audit(self) -> None:
        if self._corpus is not None:
            self._auditor.plan(self._space.settings.watch.audit_hours, len(self._corpus.snapshot.paths))

    def _give_slice(self) -> None:
        """Have a slice of the files read again, should it be due; there is nothing else to do now."""
        if self._corpus is not None and self._is_current():
            paths = self._auditor.take(self._corpus.snapshot.paths)
            if paths:
                self._jobs += 1
                self._give(Job(self._jobs, AUDIT, paths))

    def _on_message(self, message: Message) -> None:
        if self._closed:
            return
        if isinstance(message, Going):
            self._stage = message.stage
            self._feed.tell(Progress(message.job, "running", message.stage, message.done, message.total))
        elif isinstance(message, Finished):
            self._finished(message)
        else:
            self._broken(message)

    def _finished(self, message: Finished) -> None:
        asked, self._asked_job = self._asked_job, None
        if self._job:
            self._unseen.take(self._job, message)
        self._last_error = ""
        self._retry.succeeded()
        self._open_generation()
        self._end_run("")
        if asked and not asked.future.done():
            asked.future.set_result(message.report)
        self._dirt.ended()
        self._kick()

    def _broken(self, message: Broken) -> None:
        """Note what went wrong and try again after a pause; whoever asked for this very job is told at once."""
        if self._job is None and message.job == 0:
            _log.warning("%s", message.message)
        asked, self._asked_job = self._asked_job, None
        self._last_error = message.message
        self._end_run(message.message)
        self._dirt.failed(message.message)
        if asked:
            asked.fail(StoreError(message.message))
        self._retry.plan()

    def _end_run(self, failure: str) -> None:
        if self._job:
            job, self._job, self._stage = self._job, None, ""
            if job.kind == AUDIT and not failure:
                return  # nobody is to be told each minute that nothing happened
            self._feed.tell(Progress(job.number, "failed" if failure else "done", job.kind, failure=failure))

    async def _restart_updater(self, why: str) -> None:
        """End it, whatever it is at, and with it its hold on the root; the next begins from nothing."""
        ending, self._updater = self._updater, None  # so that nothing is given to it
        if ending:
            await ending.close()
        if self._asked_job:
            self._asked.appendleft(self._asked_job)
            self._asked_job = None
        self._end_run(why)
        self._dirt.failed(why)
        if self._updater is None:
            self._updater = Updater(self._space, self._on_message)
        self._kick()

    # --- generations

    def _open_generation(self) -> None:
        """Open the newest generation, unless it is the one that answers already."""
        before: Snapshot | None = None if self._corpus is None else self._corpus.snapshot
        try:
            after = open_snapshot(self._space.index_dir, identity_of(self._space), before)
        except NotIndexedError:
            return
        except StoreError as error:
            self._last_error = str(error)
            return
        if before and (before.epoch, before.generation) == (after.epoch, after.generation):
            return
        self._corpus = Corpus(after, self._corpus)
        if before is None:
            self._plan_audit()
        self._feed.tell(Generation(after.epoch, after.generation, after.complete))

    def _note_failure(self, line: str) -> None:
        self._last_error = line
