"""Errors, named by whose fault they are; each message is one line: what, where, what to do."""


class IndexerError(Exception):
    """Base of every error this package raises on purpose."""


class ConfigError(IndexerError):
    """The user's settings or flags are wrong: unknown key, wrong type, impossible value."""


class RootError(IndexerError):
    """The root cannot be indexed: missing, refused, not a directory, or not ours."""


class QueryError(IndexerError):
    """The question itself cannot be answered: empty, or a malformed filter."""


class StoreError(IndexerError):
    """The index on disk cannot be used: damaged, of another format, or made by another model."""


class BusyError(IndexerError):
    """Another writer holds the root's lock."""


class NotIndexedError(IndexerError):
    """The root has no index yet."""


class EmbedderError(IndexerError):
    """An embedder answered with something that is not what it promised."""


class WorkerError(IndexerError):
    """A parser process could not be started at all; no file is at fault."""


class DaemonError(IndexerError):
    """The daemon cannot be run or reached here, or it cannot be trusted that it is ours."""
