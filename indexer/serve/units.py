"""What the platform's own keeper of services is told, to run the daemon of a root: systemd's or launchd's file."""

from __future__ import annotations

import plistlib
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexer.serve.place import Place


def command(place: Place, flags: Sequence[str] = ()) -> list[str]:
    """The words that run the daemon in the foreground."""
    # -P: the folder it is started in has no say in what is imported.
    return [sys.executable, "-P", "-m", "indexer", "daemon", "run", place.root, *flags]


def systemd(place: Place, flags: Sequence[str] = ()) -> str:
    """A user unit (systemd.service(5)), for ``~/.config/systemd/user/indexer-KEY.service``.

    A daemon that ends well, being idle or told to, stays ended; one that crashes is started again, three times.
    """
    words = " ".join(map(_quoted, command(place, flags)))
    return "\n".join(
        [
            f"# ~/.config/systemd/user/{label(place)}.service",
            "[Unit]",
            f"Description=indexer daemon of {_plain(place.root)}",
            "StartLimitIntervalSec=600",
            "StartLimitBurst=3",
            "",
            "[Service]",
            f"ExecStart={words}",
            "Restart=on-failure",
            "RestartSec=5",
            "TimeoutStopSec=10",
            "KillMode=mixed",
            "",
            "[Install]",
            "WantedBy=default.target",
            "",
        ]
    )


def launchd(place: Place, flags: Sequence[str] = ()) -> str:
    """A property list (launchd.plist(5)), for ``~/Library/LaunchAgents/indexer-KEY.plist``."""
    value = {
        "Label": label(place),
        "ProgramArguments": command(place, flags),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 10,
        "ProcessType": "Background",
        "StandardErrorPath": place.log,
    }
    return plistlib.dumps(value).decode("utf-8")


def label(place: Place) -> str:
    """The service's name, its own for each root."""
    return f"indexer-{place.key}"


def _quoted(word: str) -> str:
    """One word of a command line, where systemd would expand % and $ and split at blanks (systemd.syntax(7))."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return '"' + "".join(c if c.isprintable() else _escaped(c) for c in escaped) + '"'


def _escaped(c: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in c.encode("utf-8", "surrogateescape"))


def _plain(text: str) -> str:
    """A text in which nothing is expanded and no line ends."""
    return "".join(c if c.isprintable() else "?" for c in text).replace("%", "%%").rstrip("\\")
