"""Who is at the other end of a Unix socket: the one place where the platforms differ in it."""

from __future__ import annotations

import socket
import struct
import sys
from typing import NamedTuple

_PLATFORM: str = sys.platform
_XUCRED = struct.Struct("=IIh2x16I")  # macOS, <sys/ucred.h>: version, uid, number of groups, groups
_LOCAL_PEERCRED = 1  # macOS, <sys/un.h>
_UCRED = struct.Struct("=iII")  # Linux, unix(7): pid, uid, gid


class Peer(NamedTuple):
    """A process by its user's id; ``pid`` is 0 where the platform does not tell."""

    uid: int
    pid: int


def peer_of(connection: socket.socket) -> Peer | None:
    """Return who connected, as the kernel tells it, or None where it cannot be told: such a one is to be refused."""
    try:
        if _PLATFORM == "linux":
            data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)
            pid, uid, _ = _UCRED.unpack(data)
            return Peer(uid, pid)
        if _PLATFORM == "darwin":
            version, uid, *_ = _XUCRED.unpack(connection.getsockopt(0, _LOCAL_PEERCRED, _XUCRED.size))
            return Peer(uid, 0) if version == 0 else None
    except (OSError, struct.error):
        return None
    return None
