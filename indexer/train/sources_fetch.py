"""One archive fetched by the ordinary client of its registry, and its SHA-256 compared.

| kind  | client | what is hashed |
| --- | --- | --- |
| wheel | `pip download --only-binary :all:` for CPython 3.11 on Linux x86-64 | the .whl |
| sdist | `pip download --no-binary :all:` | the .tar.gz or .zip |
| npm   | `npm pack` | the .tgz |
| deb   | `apt-get download` | the .deb |
| dsc   | `apt-get source --download-only` | the `.orig.tar.*` (a native package's `.tar.*`) |

apt gets a configuration of its own, made from the machine's: the same archives, their source packages too.
Nothing of the machine's own configuration or state is touched.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from pathlib import Path

KINDS = ("wheel", "sdist", "npm", "deb", "dsc")
SECONDS = 900  # of a client's run, before it counts as failed
_SYSTEM_SOURCES = Path("/etc/apt")
_DEBIAN_LINE = re.compile(r"^(deb|deb-src)\s.*/debian", re.MULTILINE)


class FetchError(Exception):
    """The client failed, brought nothing, or brought something else than the list says."""


def fetch(kind: str, name: str, version: str, folder: Path, *, apt_state: Path) -> Path:
    """The archive of one package in `folder`, which must be empty. Raises FetchError."""
    if kind in {"wheel", "sdist"}:
        _run(_pip(kind, name, version, folder), folder)
    elif kind == "npm":
        _run(["npm", "pack", "--loglevel=error", f"{name}@{version}"], folder)
    elif kind == "deb":
        _run(["apt-get", *apt_options(apt_state), "download", f"{name}={version}"], folder)
    elif kind == "dsc":
        _run(
            [
                "apt-get",
                *apt_options(apt_state),
                "source",
                "--download-only",
                "--tar-only",
                f"{name}={version}",
            ],
            folder,
        )
    else:
        raise FetchError(f"no such kind of package: {kind}")
    return the_archive(folder)


def the_archive(folder: Path) -> Path:
    """The file that is hashed and unpacked, among those a client brought."""
    names = sorted(path for path in folder.iterdir() if path.is_file())
    originals = [path for path in names if ".orig.tar." in path.name and path.suffix != ".asc"]
    others = [
        path for path in names if path.suffix not in {".dsc", ".asc"} and ".debian.tar." not in path.name
    ]
    if not (originals or others):
        raise FetchError("the client brought no archive")
    return (originals or others)[0]


def sha256_of(path: Path) -> str:
    """Of the file's bytes, as 64 hexadecimal digits."""
    with path.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()


def _pip(kind: str, name: str, version: str, folder: Path) -> list[str]:
    common = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--disable-pip-version-check"]
    if kind == "sdist":
        return [*common, "--no-binary", ":all:", "-d", str(folder), f"{name}=={version}"]
    built_for = ["--python-version", "3.11", "--platform", "manylinux_2_28_x86_64"]
    built_for += ["--platform", "manylinux_2_17_x86_64", "--platform", "manylinux2014_x86_64"]
    return [*common, "--only-binary", ":all:", *built_for, "-d", str(folder), f"{name}=={version}"]


def apt_options(state: Path) -> list[str]:
    """Options that make apt keep lists and caches below `state`, source packages among them."""
    where = [
        "Dir::Etc::sourcelist=/dev/null"
        if not (state / "sources.list").exists()
        else f"Dir::Etc::sourcelist={state / 'sources.list'}",
        f"Dir::Etc::sourceparts={state / 'parts'}",
        f"Dir::State::lists={state / 'lists'}",
        f"Dir::Cache={state / 'cache'}",
        "APT::Sandbox::User=root",
    ]
    return [word for option in where for word in ("-o", option)]


def prepare_apt(state: Path, system: Path = _SYSTEM_SOURCES) -> None:
    """Lay the configuration below `state` and read the lists once. Raises FetchError."""
    if (state / "ready").exists():
        return
    for folder in ("parts", "lists/partial", "cache/archives/partial"):
        (state / folder).mkdir(parents=True, exist_ok=True)
    for path in sorted((system / "sources.list.d").glob("*.sources")):
        text = path.read_text(encoding="utf-8")
        if "/debian" in text:
            text = re.sub(r"^Types:.*$", "Types: deb deb-src", text, flags=re.MULTILINE)
            (state / "parts" / path.name).write_text(text, encoding="utf-8")
    _prepare_lines(state, system / "sources.list")
    _run(["apt-get", "-q", *apt_options(state), "update"], state)
    (state / "ready").touch()


def _prepare_lines(state: Path, old_style: Path) -> None:
    if not old_style.exists():
        return
    lines = [line for line in old_style.read_text(encoding="utf-8").splitlines() if _DEBIAN_LINE.match(line)]
    lines += [line.replace("deb ", "deb-src ", 1) for line in lines if line.startswith("deb ")]
    (state / "sources.list").write_text("\n".join(dict.fromkeys(lines)) + "\n", encoding="utf-8")


def _run(command: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise FetchError(f"{command[0]}: {fault}") from fault
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()] or ["no word why"]
        lines = [line for line in lines if line.startswith(("E: ", "ERROR: ", "npm error 4"))] or lines
        raise FetchError(f"{Path(command[0]).name}: {lines[0].strip()[:200]}")
