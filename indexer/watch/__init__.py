"""What has changed below a root, as batches of dirty paths.

    watch = Watch(root, rules, cookie_dir, settings)
    while (batch := watch.next_batch()) is not None: ...

The contract, whatever tells of changes underneath:

- Start watching, then scan. From the moment a `Watch` is made, every change is in some batch to come.
- A batch is a hint, never a fact: what is named in it has to be looked at, and may be as it was. What is not named in
  any batch has not changed, as far as the operating system tells; where it does not tell (writes through a memory
  mapping that is still open, a hard link from outside, another machine), an audit has to find out.
- A cookie is a question with a number: the batch that holds the number covers, with those before it, every change that
  was made before the question. So an answer is current when that batch has been dealt with, not when nothing is dirty.
- What cannot be watched (a limit reached, a directory that may not be read, a network file system) is polled, looked
  at with every cookie, and told in `state`; nothing raises for it.
- When events were lost, everything is watched anew first, and then the batch says ``rescan``.

One thread takes batches; `cookie`, `state`, `flush`, `set_rules` and `close` may be called from any other.
"""

from __future__ import annotations

from indexer.lazily import from_rooms
from indexer.plainly import TYPE_CHECKING

if TYPE_CHECKING:
    from indexer.watch.batch import Batch, WatchState
    from indexer.watch.watch import Watch

__all__ = ["Batch", "Watch", "WatchState"]

__getattr__ = from_rooms(__name__, {"Batch": "batch", "Watch": "watch", "WatchState": "batch"})
