"""Messages of programs in Chinese and English, as pairs: `python -m indexer.train.catalogues SOURCES OUT`.

They are sentences of our own domain, written by people who knew both languages. SOURCES is where
`indexer.train.sources` brought the packages; those whose row says "catalogue" or "both" are looked through. OUT
gets a JSON object a line: {"left": Chinese, "right": English, "kind": "zh", "language": "zh", "project"}.

A file is a catalogue when its path says Chinese of China (`zh_CN`, `zh-Hans`, `zh`). A gettext or XLIFF file
holds both languages. Any other has a partner, the file whose path says English, or nothing, in the same place;
messages go together by key. Four packages do it in a way of their own (`_OWN`).
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from xml.etree.ElementTree import ParseError

from yaml import YAMLError

from indexer.train.catalogues_clean import cleaned
from indexer.train.catalogues_read import (
    of_json,
    of_po,
    of_properties,
    of_script,
    of_xliff,
    of_yaml,
    unescaped,
)
from indexer.train.sources import Source, read_list

Messages = Iterable[tuple[str, str]]  # (English, Chinese)

MOST_TRANSLATIONS = 3  # of one English text: more is a word that says little
_CHINESE = re.compile(
    r"(?<![A-Za-z])(zh[-_]?(?:hans)?[-_]?(?:cn|sg)?)(?![A-Za-z])(?![-_](?:tw|hk|hant))", re.IGNORECASE
)
_OTHERS = frozenset(["cldr", "i18n-iso-countries"])  # names of languages, currencies, countries: no sentences
_ENGLISH = ("en", "en-US", "en_US", "enUS", "en-us", "en_us", "en-GB", "")
_BOTH: dict[str, Callable[[Path], list[tuple[str, str]]]] = {
    ".po": of_po,
    ".xlf": of_xliff,
    ".xliff": of_xliff,
}
_ONE: dict[str, Callable[[Path], dict[str, str]]] = {
    ".json": of_json,
    ".yaml": of_yaml,
    ".yml": of_yaml,
    ".properties": of_properties,
    ".js": of_script,
    ".mjs": of_script,
    ".ts": of_script,
}
_TEXT = r"(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)"
_LOCALIZE = re.compile(r"\blocalize2?\(\s*(\d+),\s*" + _TEXT)
_DIAGNOSTIC = re.compile(r"\bdiag\(\d+, [^,]+, " + _TEXT + ", " + _TEXT)


class CatalogueError(Exception):
    """A file that looks like a catalogue and cannot be read; the message names it."""


def messages_of(folder: Path) -> Iterator[tuple[str, str]]:
    """(English, Chinese) of every catalogue below `folder`; files that cannot be read are told on stderr."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or not is_chinese(path.relative_to(folder.parent)):
            continue
        try:
            yield from _read(path, folder)
        except CatalogueError as fault:
            sys.stderr.write(f"{fault}\n")


def is_chinese(path: Path) -> bool:
    """Whether the path says that what lies there is in Chinese of China."""
    if _OTHERS.intersection(path.parts):
        return False
    return path.suffix in {*_BOTH, *_ONE} and _CHINESE.search(_without_suffix(path)) is not None


def partner(path: Path, folder: Path) -> Path | None:
    """The file of the same place in English; None when there is none."""
    relative = _without_suffix(path.relative_to(folder))
    for english in _ENGLISH:
        # Without a word for English the mark before the locale goes too: messages_zh_CN is messages.
        pattern = _CHINESE.pattern if english else r"[-_./]?" + _CHINESE.pattern
        other = folder / (re.sub(pattern, english, relative, flags=re.IGNORECASE) + path.suffix)
        if other != path and other.is_file():
            return other
    return None


def aligned(english: dict[str, str], chinese: dict[str, str]) -> list[tuple[str, str]]:
    """The messages that both have under one key."""
    return [(english[key], text) for key, text in chinese.items() if key in english]


def _without_suffix(path: Path) -> str:
    return str(path.with_suffix(""))


def _read(path: Path, folder: Path) -> Messages:
    try:
        if path.suffix in _BOTH:
            return _BOTH[path.suffix](path)
        own = next(
            (reader for mark, reader in _OWN.items() if mark in str(path.relative_to(folder.parent))), None
        )
        if own is not None:
            return own(path, folder)
        other = partner(path, folder)
        return aligned(_ONE[path.suffix](other), _ONE[path.suffix](path)) if other else ()
    except (OSError, ValueError, ParseError, YAMLError) as fault:
        raise CatalogueError(f"{path}: {fault}") from fault


def of_jed(path: Path, _folder: Path) -> Messages:
    r"""JupyterLab's: gettext as JSON, `{"English": ["Chinese"]}`; a context stands before a `\x04`."""
    table = json.loads(path.read_text(encoding="utf-8"))
    return [(key.rpartition("\x04")[2], texts[0]) for key, texts in table.items() if key and texts]


def of_bundle(path: Path, _folder: Path) -> Messages:
    """An extension of VS Code: the bundle's keys are English, `/` and a comment behind them."""
    bundle = json.loads(path.read_text(encoding="utf-8")).get("contents", {}).get("bundle", {})
    return [(re.sub(r"/(?:\[|\{).*$", "", key, flags=re.DOTALL), text) for key, text in bundle.items()]


def of_editor(path: Path, folder: Path) -> Messages:
    """VS Code's own: an array; the packages of the same version have the English beside the place in it."""
    chinese = [unescaped(text[1:-1]) for text in _array(path)]
    version = folder.name.rpartition("-")[2]
    for package in sorted(folder.parent.glob(f"@codingame+monaco-vscode-*-{version}")):
        for script in sorted(package.rglob("*.js")):
            for found in _LOCALIZE.finditer(script.read_text(encoding="utf-8", errors="replace")):
                if int(found[1]) < len(chinese):
                    yield unescaped(found[2][1:-1]), chinese[int(found[1])]


def _array(path: Path) -> list[str]:
    return re.findall(
        r"^\s*(undefined|null|" + _TEXT[1:-1] + r"),?$", path.read_text(encoding="utf-8"), re.MULTILINE
    )


def of_compiler(path: Path, folder: Path) -> Messages:
    """TypeScript's: keys as the compiler's table of diagnostics has them."""
    script = (folder / "package/lib/_tsc.js").read_text(encoding="utf-8")
    english = {found[1][1:-1]: unescaped(found[2][1:-1]) for found in _DIAGNOSTIC.finditer(script)}
    return aligned(english, json.loads(path.read_text(encoding="utf-8")))


_OWN: dict[str, Callable[[Path, Path], Messages]] = {
    "jupyterlab-language-pack": of_jed,
    "language-pack-zh-hans": lambda path, folder: (of_bundle if path.suffix == ".json" else of_editor)(
        path, folder
    ),
    "diagnosticMessages.generated": of_compiler,
}


def pairs_of(sources: Iterable[Source], folder: Path) -> Iterator[dict[str, str]]:
    """Each pair once, in the order of the list."""
    seen: set[tuple[str, str]] = set()
    translations: Counter[str] = Counter()
    for source in sources:
        for english, chinese in messages_of(folder / source.folder):
            for left, right in cleaned(english, chinese):
                key = (left, right.lower())
                if key in seen or translations[key[1]] >= MOST_TRANSLATIONS:
                    continue
                seen.add(key)
                translations[key[1]] += 1
                yield {"left": left, "right": right, "kind": "zh", "language": "zh", "project": source.name}


def main(arguments: list[str] | None = None) -> int:
    """Write OUT anew, whole or not at all; a line a project on stdout."""
    parser = argparse.ArgumentParser(
        prog="python -m indexer.train.catalogues", description="Chinese-English pairs."
    )
    parser.add_argument("sources", type=Path, metavar="SOURCES")
    parser.add_argument("out", type=Path, metavar="OUT")
    options = parser.parse_args(arguments)
    wanted = [source for source in read_list() if source.take != "code"]
    counts: Counter[str] = Counter()
    partial = options.out.with_name(options.out.name + ".part")
    with partial.open("w", encoding="utf-8") as sink:
        for pair in pairs_of(wanted, options.sources):
            counts[pair["project"]] += 1
            sink.write(json.dumps(pair, ensure_ascii=False) + "\n")
    partial.replace(options.out)
    for project, count in counts.most_common():
        sys.stdout.write(f"{count:7} {project}\n")
    sys.stdout.write(f"{counts.total():7} pairs in {options.out}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
