"""What the file systems below a root are, and when that changes.

inotify tells what is done on this machine, through this kernel's own file systems. What another machine does on a
network file system, or the far end of a FUSE mount, raises no event here. The numbers are those of ``statfs(2)`` and
``linux/magic.h``. An overlay is watched: all that is done through it raises events (held by a test); changing its
layers behind its back is undefined by the kernel's own word.
"""

# Paths are bytes here, and pathlib knows only str.
# ruff: noqa: PTH123

from __future__ import annotations

import ctypes
import os
import re
import select
from contextlib import suppress

UNWATCHABLE = {
    0x6969: "NFS",
    0x517B: "SMB",
    0xFE534D42: "SMB2",
    0xFF534D42: "CIFS",
    0x564C: "NCP",
    0x5346414F: "AFS",
    0x6B414653: "AFS",
    0x73757245: "Coda",
    0x00C36400: "Ceph",
    0x0BD00BD0: "Lustre",
    0x01161970: "GFS2",
    0x7461636F: "OCFS2",
    0x47504653: "GPFS",
    0x19830326: "BeeGFS",
    0x65735546: "FUSE",
    0x01021997: "9P",
    0x786F4256: "VirtualBox shared folder",
    0xBACBACBC: "VMware shared folder",
    0x7C7C6673: "Parallels shared folder",
    0x9FA0: "proc",
    0x62656572: "sysfs",
}
_MOUNTINFO = "/proc/self/mountinfo"
_ESCAPED = re.compile(rb"\\([0-7]{3})")


def why_unwatchable(directory: bytes) -> str:
    """Return why changes below a directory cannot all be reported; empty when they can, or nobody knows."""
    kind = _kind(directory)
    name = UNWATCHABLE.get(kind)
    return f"{name} does not report what is changed from elsewhere" if name else ""


def _kind(directory: bytes) -> int:
    """Return ``f_type``, the first word of ``struct statfs``; 0 when it cannot be had."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "statfs"):
        return 0
    buffer = ctypes.create_string_buffer(512)
    if libc.statfs(ctypes.c_char_p(directory), buffer) != 0:
        return 0
    return int(ctypes.c_long.from_buffer(buffer).value) & 0xFFFFFFFF


class Mounts:
    """The mount points below a root. Telling that one came or went costs a microsecond: the kernel counts them."""

    def __init__(self, root: bytes) -> None:
        self._root = root
        self._file = -1
        self._poll = select.poll()
        with suppress(OSError):
            self._file = os.open(_MOUNTINFO, os.O_RDONLY | os.O_CLOEXEC)
            self._poll.register(self._file, select.POLLPRI)
        self._points = self._read()

    def changed(self) -> bool:
        """Tell whether a file system was mounted or unmounted below the root since the last time."""
        if self._file < 0 or not self._poll.poll(0):
            return False
        before, self._points = self._points, self._read()
        return self._points != before

    def unwatchable(self) -> dict[bytes, str]:
        """Return the mount points, relative to the root, whose changes are not all reported, and why."""
        verdicts = {point[len(self._root) :]: why_unwatchable(point) for point, _ in self._points}
        return {point: why for point, why in verdicts.items() if why}

    def _read(self) -> frozenset[tuple[bytes, bytes]]:
        """Return the mount points below the root, each with the identity of what is mounted."""
        points = set()
        with suppress(OSError), open(_MOUNTINFO, "rb") as file:
            for line in file:
                fields = line.split()
                point = _ESCAPED.sub(lambda match: bytes([int(match[1], 8)]), fields[4])
                if point.startswith(self._root):
                    points.add((point, fields[0]))
        return frozenset(points)

    def close(self) -> None:
        """Let go of the kernel's list."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
