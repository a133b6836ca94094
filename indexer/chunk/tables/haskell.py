"""Haskell: a function is its signature and all its equations; types, classes, instances with their methods.

Local definitions (``where``, ``let``) stay in their function, of which they are a part. The line is that of the first
equation, or of the signature where there is none (in a class).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from indexer.chunk.grammar import Found, Rule, Site, Table
from indexer.chunk.tables.nodes import child
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

    from indexer.chunk.spans import Definition

_TOP, _METHODS = "declarations", frozenset({"class_declarations", "instance_declarations"})
# A kind of this file alone, until `_gathered` has put signatures and equations together.
_SIGNATURE = "signature"


def _value_kind(site: Site) -> str:
    """What a name is that is defined here: a function, a method, or (local) nothing of its own."""
    around = site.parents[-1].type if site.parents else ""
    if around == _TOP:
        return Kind.FUNCTION
    return Kind.METHOD if around in _METHODS else ""


def _equation(node: Node, site: Site) -> Found | None:
    kind = _value_kind(site)
    infix = child(node, "infix")
    name = infix.child_by_field_name("operator") if infix else node.child_by_field_name("name")
    match = child(node, "match")
    if not kind or name is None:
        return None
    return Found(kind, _bare(site.read(name)), name.start_byte, match.start_byte if match else -1)


def _signature(node: Node, site: Site) -> Found | None:
    kind = _value_kind(site)
    name = node.child_by_field_name("name") or node.child_by_field_name("names")
    if not kind or name is None:
        return None
    return Found(_SIGNATURE, site.read(name), node.start_byte, node.end_byte, bases=(kind,))


def _bare(name: str) -> str:
    """``(<+>)`` and ```plus``` without their marks."""
    return name.strip("`() ") or name


def _pattern(node: Node, site: Site) -> Found | None:
    """``pattern Zero = ...``, or its signature."""
    inner = child(node, "equation", "signature")
    name = inner.child_by_field_name("synonym") if inner else None
    if inner is None or name is None:
        return None
    if inner.type == "signature":
        return Found(_SIGNATURE, site.read(name), node.start_byte, node.end_byte, bases=(Kind.FUNCTION,))
    return Found(Kind.FUNCTION, site.read(name), node.start_byte)


def _foreign(node: Node, site: Site) -> Found | None:
    signature = node.child_by_field_name("signature")
    name = signature.child_by_field_name("name") if signature else None
    return Found(Kind.FUNCTION, site.read(name), name.start_byte, node.end_byte) if name else None


def _type(kind: str) -> Rule:
    def rule(node: Node, site: Site) -> Found | None:
        name = node.child_by_field_name("name")
        if name is None:
            infix = child(node, "infix")
            name = infix.child_by_field_name("operator") if infix else None
        body = node.child_by_field_name("declarations") or node.child_by_field_name("constructors")
        if name is None:
            return None
        return Found(kind, _bare(site.read(name)), name.start_byte, body.start_byte if body else -1)

    return rule


def _instance(node: Node, site: Site) -> Found | None:
    """``instance Ord a => Semigroup (Pair a)`` is ``Semigroup (Pair a)``."""
    name, patterns = node.child_by_field_name("name"), node.child_by_field_name("patterns")
    body = node.child_by_field_name("declarations")
    if name is None:
        return None
    of = f" {site.read(patterns)}" if patterns else ""
    return Found(Kind.IMPL, site.read(name) + of, name.start_byte, body.start_byte if body else -1)


def _imported(node: Node, site: Site) -> Iterable[str]:
    name = node.child_by_field_name("module")
    return [site.read(name)] if name else []


def _gathered(definitions: list[Definition], _text: bytes) -> list[Definition]:
    """One definition of a signature and the equations that follow it, and of equations of the same name."""
    gathered: list[Definition] = []
    for definition in definitions:
        if gathered and _same(gathered[-1], definition):
            gathered[-1] = _joined(gathered[-1], definition)
        else:
            gathered.append(definition)
    return [_alone(definition) if definition.kind == _SIGNATURE else definition for definition in gathered]


def _same(before: Definition, after: Definition) -> bool:
    if after.kind not in {Kind.FUNCTION, Kind.METHOD} or before.end > after.start:
        return False
    if before.kind == _SIGNATURE:
        return after.kind in before.bases and after.name in _signed(before)
    return before.kind == after.kind and before.name == after.name


def _signed(signature: Definition) -> list[str]:
    return [_bare(name.strip()) for name in signature.name.split(",")]


def _joined(before: Definition, after: Definition) -> Definition:
    if before.kind != _SIGNATURE:
        return replace(before, end=after.end)
    docstring = before.docstring if before.docstring[1] else after.docstring
    return replace(after, start=before.start, signature=before.signature, docstring=docstring)


def _alone(signature: Definition) -> Definition:
    """A signature without equations, as in a class."""
    return replace(signature, kind=signature.bases[0], name=_signed(signature)[0], bases=())


TABLE = Table(
    grammar="haskell",
    definitions={
        "function": _equation,
        "bind": _equation,
        "signature": _signature,
        "pattern_synonym": _pattern,
        "foreign_import": _foreign,
        "data_type": _type(Kind.STRUCT),
        "newtype": _type(Kind.STRUCT),
        "type_synomym": _type(Kind.TYPE),
        "type_family": _type(Kind.TYPE),
        "data_family": _type(Kind.TYPE),
        "class": _type(Kind.CLASS),
        "instance": _instance,
        "deriving_instance": _instance,
    },
    comments=frozenset({"comment", "haddock"}),
    attributes=frozenset({"pragma", "fixity"}),
    imports={"import": _imported},
    leaves=frozenset({"variable", "literal", "header", "match", "local_binds", "patterns", "deriving"}),
    finish=_gathered,
    # The grammar takes everything from ``#else`` to ``#endif`` for a comment.
    hidden=re.compile(rb"^#[^\r\n]*", re.MULTILINE),
)
