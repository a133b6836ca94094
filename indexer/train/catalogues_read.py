"""Readers of message catalogues: each gives the messages of one file.

A gettext file holds both languages, and gives (English, Chinese) at once. The others hold one language and
give {key: message}; two files of the same keys are laid side by side by `indexer.train.catalogues`.
Sources: the GNU gettext manual (PO files), `java.util.Properties.load`, the XLIFF 1.2 specification (1.2 and 2.0
differ in names only).
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import polib
import yaml
from tree_sitter_language_pack import get_parser

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tree_sitter import Node

MOST_DEEP = 40  # of nested messages
# Every scalar a text: `=` alone, which a translation may be, is a tag of its own to the safe loader.
_Loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]+)\}|x([0-9a-fA-F]{2})|(\r?\n)|(.))", re.DOTALL)
_NAMED_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "b": "\b", "0": "\0"}


def of_po(path: Path) -> list[tuple[str, str]]:
    """(msgid, msgstr) of each entry that is translated: no fuzzy, obsolete or empty ones.

    Chinese has one plural form: it goes with the plural of the source.
    """
    found = []
    for entry in polib.pofile(str(path), check_for_duplicates=False):
        if entry.fuzzy or entry.obsolete:
            continue
        if entry.msgid_plural:
            found.append((entry.msgid_plural, entry.msgstr_plural.get(0, "")))
        else:
            found.append((entry.msgid, entry.msgstr))
    return [(source, target) for source, target in found if source.strip() and target.strip()]


def of_json(path: Path) -> dict[str, str]:
    """Messages by the way to them (`menu/file/open`); a list with one text in it counts as that text."""
    return dict(_flat(json.loads(path.read_text(encoding="utf-8-sig")), ""))


def of_yaml(path: Path) -> dict[str, str]:
    """As `of_json`."""
    return dict(_flat(_Loader(path.read_text(encoding="utf-8")).get_single_data(), ""))


def _flat(value: object, key: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield key, value
    elif key.count("\0") < MOST_DEEP:
        items = (
            value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        )
        for name, inner in items:
            yield from _flat(inner, f"{key}\0{name}")


def of_properties(path: Path) -> dict[str, str]:
    """Messages of a Java `.properties` file; UTF-8, or ISO 8859-1 where it is not."""
    data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    found = {}
    for line in re.sub(r"(?<!\\)((?:\\\\)*)\\\r?\n[ \t]*", r"\1", text).splitlines():
        if line.lstrip()[:1] not in {"#", "!", ""}:
            key, value = _key_and_value(line.lstrip())
            found[key] = unescaped(value)
    return found


def _key_and_value(line: str) -> tuple[str, str]:
    cut = re.search(r"(?<!\\)[=: \t]", line)
    if cut is None:
        return line, ""
    return line[: cut.start()], re.sub(r"^[ \t]*[=:]?[ \t]*", "", line[cut.start() :])


def of_script(path: Path) -> dict[str, str]:
    """Messages of a JavaScript or TypeScript file: texts in object literals and `table["KEY"] = "text"`."""
    parser = get_parser("typescript" if path.suffix in {".ts", ".mts", ".cts"} else "javascript")
    tree = parser.parse(path.read_bytes())
    return dict(_texts(tree.root_node, ""))


def _texts(node: Node, key: str) -> Iterator[tuple[str, str]]:
    named = {"pair": ("key", "value"), "assignment_expression": ("left", "right")}.get(node.type)
    if named is None:
        for inner in node.named_children:
            yield from _texts(inner, key)
        return
    name, value = (node.child_by_field_name(field) for field in named)
    if name is None or value is None or key.count("\0") > MOST_DEEP:
        return
    # `zh_CN.strings = {...}` is called otherwise in the English file.
    whole = node.type == "assignment_expression" and value.type in {"object", "function_expression"}
    way = key if whole else f"{key}\0{_text(name)}"
    if value.type in {"string", "template_string"}:
        yield way, _text(value)
    else:
        yield from _texts(value, way)


def _text(node: Node) -> str:
    raw = (node.text or b"").decode("utf-8", "replace")
    if node.type in {"string", "template_string"}:
        return unescaped(raw[1:-1])
    return raw


def unescaped(text: str) -> str:
    r"""`\n`, `\u4e2d` and their like made what they stand for, as in JavaScript and `.properties`."""

    def meant(found: re.Match[str]) -> str:
        number = found[1] or found[2] or found[3]
        if number:
            return chr(int(number, 16))
        return "" if found[4] else _NAMED_ESCAPES.get(found[5], found[5])

    return _ESCAPE.sub(meant, text)


def of_xliff(path: Path) -> list[tuple[str, str]]:
    """(source, target) of each unit that has both."""
    found = []
    for unit in ET.parse(path).iter():  # noqa: S314 - from an archive whose hash is known
        if unit.tag.rpartition("}")[2] in {"trans-unit", "segment"}:
            parts = {part.tag.rpartition("}")[2]: "".join(part.itertext()) for part in unit}
            found.append((parts.get("source", ""), parts.get("target", "")))
    return [(source, target) for source, target in found if source.strip() and target.strip()]
