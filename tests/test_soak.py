"""The soak: hours of edits and questions, after which the daemon holds what it held at first, and its index is right.

The long form, two hours: ``pytest -m slow tests/test_soak.py -s`` prints a line of figures for each sample.
`INDEXER_SOAK_MINUTES` is another length, `INDEXER_SEED` another beginning.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

from tests.soak import ALLOWED, Life, Sample, processor_seconds, revision, sample, unsteady
from tests.test_world import world

EDITS_A_SECOND, QUESTIONS_A_SECOND = 1, 2
SAMPLES, SAMPLE_SECONDS = 60, 30.0  # at least so many; at most so long from one to the next
WARM_UP_SECONDS = 600.0  # at most, or a sixth of the whole: until unbound rows are first merged away


def beats(seconds: float) -> Iterator[int]:
    """Count the beats of a steady rate; what was late is made up for."""
    start = time.monotonic()
    number = 0
    while (now := time.monotonic() - start) < seconds:
        yield number
        number += 1
        time.sleep(max(0.0, number / QUESTIONS_A_SECOND - now))


def told(one: Sample, life: Life) -> str:
    return (
        f"{one.at:6.0f} s  {one.daemon / 1e6:6.1f} MB ({one.own / 1e6:5.1f} own)  updater {one.updater / 1e6:6.1f} MB"
        f"  {one.descriptors} descriptors  {one.threads} threads  {one.processes} processes"
        f"  {one.segments} segments  {one.disk / 1e6:6.2f} MB on disk  {life.edits} edits  {life.questions} questions"
    )


@pytest.mark.slow
def test_hours_of_edits_and_questions_leave_nothing_behind() -> None:
    seconds = 60 * float(os.environ.get("INDEXER_SOAK_MINUTES", "120"))
    pause = min(SAMPLE_SECONDS, seconds / SAMPLES)
    samples: list[Sample] = []
    with world() as here:
        life = Life(here, int(os.environ.get("INDEXER_SEED", "1")))
        pid = here.daemon()
        here.sync()
        start, before = time.monotonic(), processor_seconds(pid)
        for beat in beats(seconds):
            if beat % (QUESTIONS_A_SECOND // EDITS_A_SECOND) == 0:
                life.edit()
            life.ask()
            if (at := time.monotonic() - start) >= len(samples) * pause:
                samples.append(sample(pid, here.root / ".indexer", at))
                print(told(samples[-1], life), flush=True)
        taken = (processor_seconds(pid) - before) / (time.monotonic() - start)
        life.leave()
        assert here.compare() == []
        assert here.sound() == []
    steady = [one for one in samples if one.at >= min(WARM_UP_SECONDS, seconds / 6)]
    grown = unsteady(steady)
    print(
        f"soak of {revision()}: {seconds / 60:.0f} minutes, {life.edits} edits, {life.questions} questions,"
        f" {life.stale} not in time, {taken:.2f} of a core, {len(samples)} samples; grown: {grown or 'nothing'}"
    )
    assert grown == []


def test_what_grows_is_found() -> None:
    """The planted fault of the soak: each figure in turn grows by a little in each sample."""
    flat = Sample(0.0, 100 << 20, 50 << 20, 80 << 20, 30, 6, 3, 8, 20 << 20)
    samples = [flat._replace(at=30.0 * number) for number in range(60)]
    assert unsteady(samples) == []
    for name in ALLOWED:
        grown = [
            one._replace(**{name: getattr(one, name) * (60 + number) // 60})
            for number, one in enumerate(samples)
        ]
        assert [line.partition(":")[0] for line in unsteady(grown)] == [name]
