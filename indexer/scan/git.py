"""Calling git so that nothing of the repository's runs, and what it answers about one work tree.

A repository's own ``.git/config`` may name programs (a file-system monitor, hooks, filters, a pager, an ssh command);
each is switched off on the command line, which wins over every file. No lock is taken, nothing is fetched, no prompt
is shown. Variables of the environment that point git at another repository, as a hook inherits them, are dropped.
"""

# Paths are bytes here, and pathlib knows only str.
# ruff: noqa: PTH111, PTH118

from __future__ import annotations

import os
import select
import sys
from contextlib import suppress

from indexer.errors import RootError
from indexer.plainly import TYPE_CHECKING, NamedTuple

if sys.platform == "linux":
    import resource

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import IO

_SWITCHES = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.sshCommand=false",
    "core.gitProxy=",
    "core.alternateRefsCommand=",
    "protocol.allow=never",
    "credential.helper=",
    "safe.bareRepository=explicit",
)
# The user's own word on where git and its settings are; every other GIT_ variable is about some other call.
_KEPT = frozenset(
    {"GIT_EXEC_PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_SSL_CAINFO"}
)
_SET = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_REPLACE_OBJECTS": "1",
}
# The C locale's wording, which is what every call gets.
_UNOPENED = b"warning: could not open directory '"
# A listing of a million files from a cold disk takes a minute; what takes longer than this hangs. Of the processor it
# takes ten seconds; but an ignore file with one line of many `**/` keeps git's matcher busy for years.
_TIMEOUT = 300.0
_KILL = 9  # SIGKILL, without loading `signal`
_PROCESSOR_SECONDS = 30
_UNTOLD = 256  # no exit status: how it ended is told to nobody, so that what it said may be half of it


class Output(NamedTuple):
    """How a call ended. ``code`` is git's exit status; negative when it was killed or could not be started."""

    code: int
    out: bytes
    err: bytes

    @property
    def complaint(self) -> str:
        """Git's own first line of complaint, for a message to the user."""
        lines = self.err.decode("utf-8", "replace").strip().splitlines()
        return lines[0].removeprefix("fatal: ") if lines else f"exit status {self.code}"


def environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the environment a call gets."""
    kept = {k: v for k, v in inherited.items() if not k.startswith("GIT_") or k in _KEPT}
    return kept | _SET


class Call:
    """A git process on its way. Its output goes to files, so that it never waits for us to read."""

    def __init__(self, directory: bytes, *arguments: str | bytes) -> None:
        self._files: list[IO[bytes]] = []
        try:
            self._files += [_scratch() for _ in range(2)]
        except OSError as error:
            raise RootError(f"{os.fsdecode(directory)}: git cannot be asked: {error.strerror}") from error
        switches = [word for switch in _SWITCHES for word in ("-c", switch)]
        self._process = 0
        self._failure = b""
        try:
            # Not by `subprocess`: it takes longer to load than git to answer.
            self._process = os.posix_spawnp(
                "git",
                ["git", "--no-pager", "-C", directory, *switches, *arguments],
                environment(os.environ),
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                    *((os.POSIX_SPAWN_DUP2, file.fileno(), at) for at, file in enumerate(self._files, 1)),
                ],
            )
        except OSError as error:
            self._failure = f"git cannot be called: {error}".encode()
        else:
            _limit_processor(self._process)

    def finish(self) -> Output:
        """Wait for the end and return what was said. A call that hangs is killed."""
        try:
            if not self._process:
                return Output(-1, b"", self._failure)
            if not _has_ended(self._process):
                self._kill()
            code = self._reaped()
            if code == _UNTOLD:
                return Output(code, b"", b"this process has the ends of children ignored (SIGCHLD)")
            if code < 0:
                bounds = (_TIMEOUT, _PROCESSOR_SECONDS)
                return Output(
                    code, b"", b"git was ended, after at most %d seconds, %d of the processor" % bounds
                )
            return Output(code, *(_content(file) for file in self._files))
        finally:
            self.close()

    def close(self) -> None:
        """End the process if it still runs, and let go of its output."""
        if self._process:
            self._kill()
            self._reaped()
        for file in self._files:
            file.close()

    def _kill(self) -> None:
        with suppress(ProcessLookupError):  # only where children's ends are ignored: it was not waited for
            os.kill(self._process, _KILL)

    def _reaped(self) -> int:
        """Wait for the end; return the exit status, negative when it was killed."""
        process, self._process = self._process, 0
        try:
            return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        except ChildProcessError:
            return _UNTOLD


def _has_ended(process: int) -> bool:
    """Wait for the end of a child, and tell whether it has come in time. The child is not reaped."""
    # `wait` with a timeout looks every 50 ms, which is longer than most calls take.
    if sys.platform == "linux":
        with suppress(OSError):  # an old kernel
            descriptor = os.pidfd_open(process)
            try:
                ended = select.poll()
                ended.register(descriptor, select.POLLIN)
                return bool(ended.poll(_TIMEOUT * 1000))
            finally:
                os.close(descriptor)
    import threading  # as above

    alarm = threading.Timer(_TIMEOUT, os.kill, (process, _KILL))
    alarm.daemon = True
    alarm.start()
    with suppress(ChildProcessError):  # told to nobody
        os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
    alarm.cancel()
    return True


def _limit_processor(process: int) -> None:
    if sys.platform == "linux":  # elsewhere nobody limits another process
        with suppress(OSError):  # it has ended
            resource.prlimit(process, resource.RLIMIT_CPU, (_PROCESSOR_SECONDS, _PROCESSOR_SECONDS))


def _scratch() -> IO[bytes]:
    if hasattr(os, "memfd_create"):
        return os.fdopen(_above_standard(os.memfd_create("git-output")), "w+b")
    import tempfile  # here, since it takes longer to load than git to answer

    return tempfile.TemporaryFile()


def _above_standard(descriptor: int) -> int:
    """Move a descriptor out of the way of those that git has its input and output by, if ours were closed."""
    if descriptor > 2:
        return descriptor
    import fcntl  # here, since other platforms lack it

    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(descriptor)
    return moved


def _content(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def call(directory: bytes, *arguments: str | bytes) -> Output:
    """Run git in a directory and wait."""
    return Call(directory, *arguments).finish()


class WorkTree(NamedTuple):
    """Where a directory stands in its work tree, as git sees it. Absolute paths; ``prefix`` ends with a slash."""

    prefix: bytes
    git_dir: bytes
    common_dir: bytes


class Refusal(NamedTuple):
    """Why git does not answer for a directory, in words for the user."""

    why: str


def work_tree(directory: bytes) -> WorkTree | Refusal:
    """Ask git which work tree a directory is in. Trusts no answer that lies: the tree must hold the directory."""
    options = ("--show-prefix", "--absolute-git-dir", "--git-common-dir", "--show-toplevel")
    answer = call(directory, "rev-parse", *options)
    if answer.code != 0:
        return Refusal(_refusal(directory, answer))
    lines = answer.out.split(b"\n")[:-1]
    if len(lines) != len(options):  # a line break in a path
        lines = [call(directory, "rev-parse", option).out.removesuffix(b"\n") for option in options]
    prefix, git_dir, common_dir, top = lines
    if os.path.realpath(os.path.join(top, prefix)) != os.path.realpath(directory):
        return Refusal(f"its work tree is set to another folder, {os.fsdecode(top)}")
    return WorkTree(prefix, git_dir, os.path.join(directory, common_dir))


def _refusal(directory: bytes, answer: Output) -> str:
    if b"dubious ownership" in answer.err or b"unsafe repository" in answer.err:
        where = os.fsdecode(directory)
        return f"the folder belongs to another user; if you trust it: git config --global --add safe.directory {where}"
    return answer.complaint


def list_files(directory: bytes) -> Call:
    """Start listing what is tracked, and what is neither tracked nor ignored, below a directory."""
    return Call(directory, "ls-files", "-co", "--exclude-standard", "-z")


def unopened(complaints: bytes) -> list[bytes]:
    """Return the directories, from the work tree's top, that a listing says it could not open; gone ones left out.

    Empty where the name cannot be told: it holds a line break, or is longer than git's messages may be.
    """
    lines = complaints.split(b"\n")
    parts = [line.removeprefix(_UNOPENED).rpartition(b"': ") for line in lines if line.startswith(_UNOPENED)]
    return [
        name.rstrip(b"/") + b"/" if end else b""
        for name, end, why in parts
        if why != b"No such file or directory"
    ]


def list_tracked(directory: bytes) -> Call:
    """Start listing what is tracked below a directory; quick, since only git's index is read."""
    return Call(directory, "ls-files", "-c", "-z")


def submodules(directory: bytes) -> list[bytes]:
    """Return the paths below a directory that git's index has as submodules."""
    entries = call(directory, "ls-files", "-s", "-z").out.split(b"\0")
    return [entry.partition(b"\t")[2] for entry in entries if entry.startswith(b"160000 ")]


def excludes_file(directory: bytes) -> bytes:
    """Return the path of the user's global ignore file, whether or not it is there."""
    answer = call(directory, "config", "--type=path", "-z", "--get", "core.excludesFile")
    if answer.code == 0:
        return os.path.join(directory, answer.out.removesuffix(b"\0"))
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return os.path.join(os.fsencode(home), b"git", b"ignore")
