"""Archives unpacked safely, and only what a miner reads: source text, message catalogues, licences.

An archive is somebody else's word about where its files lie. A member with an absolute name or a `..` in it
refuses the whole archive; links, devices and folders are left out (folders come to be by the files in them).
Everything is written into a folder beside the target, which gets its name at the end: a target that exists
is whole.
"""

from __future__ import annotations

import contextlib
import fnmatch
import lzma
import shutil
import subprocess
import tarfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CODE_SUFFIXES = _words(
    ".py .pyi .pyx .js .jsx .mjs .cjs .ts .tsx .mts .cts .vue .svelte .go .java .kt .kts .scala .groovy .rs .c .h"
    " .cc .cpp .cxx .hh .hpp .hxx .inl .ipp .cs .rb .rake .php .inc .swift .lua .hs .ex .exs .erl .hrl .sh .bash"
    " .zig .ml .mli .jl .pl .pm .r .m .mm .sql .proto .cmake .md .rst"
)
SCRIPT_SUFFIXES = _words(".js .mjs .cjs .ts")
CATALOGUE_SUFFIXES = _words(".po .json .xlf .xliff .properties .yml .yaml")
# Other people's code inside a package: it may well be one of the projects held out for tests.
VENDORED = _words(
    "node_modules bundled vendor vendored _vendor _vendored vendored_packages third_party thirdparty third-party"
    " 3rdparty 3rd_party _third_party bower_components site-packages"
)
MOST_BYTES = 1_500_000  # of a code file: longer ones are generated or data
MOST_CATALOGUE_BYTES = 16_000_000


class UnpackError(Exception):
    """An archive that cannot be read, or that names a path outside its own folder."""


def unpack(archive: Path, target: Path, *, only: Sequence[str] = (), take: str = "code") -> int:
    """Write what is kept of `archive` below `target`, all of it or nothing; the number of files.

    `only` has patterns of whole paths inside the archive (`*/src/*`); none means everything. `take` says what
    is kept: "code", "catalogue" (messages, and the scripts they may be written in) or "both".
    Raises UnpackError.
    """
    partial = target.with_name("." + target.name + ".part")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        count = _unpack(archive, partial, only, take=take)
        partial.rename(target)
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError, zlib.error, lzma.LZMAError) as fault:
        raise UnpackError(f"{archive.name}: {fault}") from fault
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return count


def _unpack(archive: Path, folder: Path, only: Sequence[str], *, take: str) -> int:
    count = 0
    for name, size, data in _members(archive):
        if _kept(inside(name), size, only, take=take):
            count += _write(folder / inside(name), data)
    if not count:
        raise UnpackError(f"{archive.name}: nothing in it is kept")
    return count


def inside(name: str) -> PurePosixPath:
    """The member's path, when it stays below the folder it is unpacked to; else UnpackError."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name:
        raise UnpackError(f"a member lies outside: {name!r}")
    return path


def _kept(path: PurePosixPath, size: int, only: Sequence[str], *, take: str) -> bool:
    if _is_licence(path.name):
        return size < MOST_BYTES
    if VENDORED.intersection(path.parts) or ".min." in path.name:
        return False
    if only and not any(fnmatch.fnmatchcase(str(path), pattern) for pattern in only):
        return False
    if path.suffix in CATALOGUE_SUFFIXES:
        return take != "code" and size <= MOST_CATALOGUE_BYTES
    if path.suffix in SCRIPT_SUFFIXES and take != "code":
        return size <= MOST_CATALOGUE_BYTES
    return path.suffix in CODE_SUFFIXES and take != "catalogue" and size <= MOST_BYTES


def _is_licence(name: str) -> bool:
    return name.upper().startswith(("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE"))


def _write(path: Path, data: IO[bytes]) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as sink:
            shutil.copyfileobj(data, sink)
    except (FileExistsError, NotADirectoryError):
        return 0  # the same name twice: the first stands
    return 1


def _members(archive: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    if zipfile.is_zipfile(archive):
        return _of_zip(archive)
    return _of_deb(archive) if archive.suffix == ".deb" else _of_tar(archive)


def _of_zip(archive: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    with zipfile.ZipFile(archive) as box:
        for member in box.infolist():
            is_link = (member.external_attr >> 16) & 0o170000 == 0o120000
            inside(member.filename)
            if not member.is_dir() and not is_link:
                with box.open(member) as data:
                    yield member.filename, member.file_size, data


def _of_tar(archive: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    with tarfile.open(archive) as box:
        yield from _files(box)


def _of_deb(archive: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    command = ["dpkg-deb", "--fsys-tarfile", str(archive)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        assert child.stdout is not None  # it was asked for
        with contextlib.closing(tarfile.open(fileobj=child.stdout, mode="r|")) as box:
            yield from _files(box)
    if child.returncode:
        raise UnpackError(f"{archive.name}: dpkg-deb could not read it")


def _files(box: tarfile.TarFile) -> Iterator[tuple[str, int, IO[bytes]]]:
    for member in box:
        inside(member.name)
        if member.isfile() and (data := box.extractfile(member)) is not None:
            yield member.name, member.size, data
