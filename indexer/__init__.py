"""indexer: a searchable index of a source repository, as fresh as the files on disk.

The road through the house::

    scan -> diff -> chunk -> embed -> store -> search -> serve

- ``scan`` walks the root, ignore rules applied on the way, and yields one `FileStat` a file.
- ``scan.diff`` holds them against what the index knows. A stat that moved means: read and hash. A hash that moved
  means: changed.
- ``chunk`` cuts a changed file: a chunk a function, method or class, and the rest in chunks of its own.
- ``embed`` makes vectors of the chunk contents that the store has not seen before.
- ``store`` binds and unbinds rows in one atomic step, a *generation*.
- ``search`` reads an immutable snapshot of one generation.
- ``serve`` answers from the newest one over a socket, while ``watch`` tells what changes.

Imports point one way, down this list (``tests/test_layers.py`` holds it)::

    0  types  files  errors  settings  config  tokens  versions  keys  columns  ragged  processes  lazily
    1  scan/  chunk/  embed/
    2  store/  workspace
    3  reindex/  search/
    4  oneshot  status  watch/  train/
    5  answers  check
    6  serve/
    7  cli/

What holds whatever happens: an incremental index equals one built from nothing on the same tree; only what
changed is paid for; a generation is all or nothing; an answer never claims to be fresher than it is; no file can
hurt the others; and a repository is data, never instructions.
"""

__version__ = "0.1.0"
