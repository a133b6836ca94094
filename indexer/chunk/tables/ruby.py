"""Ruby: modules, classes (also ``X = Struct.new ... do``), methods of every form, ``define_method``.

``self.`` is no scope: a class method is found like any other. What stands in ``class << self`` belongs to the class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexer.chunk.grammar import Found, Site, Table, named
from indexer.chunk.tables.nodes import child, qualified
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tree_sitter import Node

_HOLDERS = frozenset({"class", "module", "singleton_class"})
# How many nodes up a class still counts as around a method: body, ``private``, a conditional or two.
_NEAR = 8
_CLASS_MAKERS = frozenset({"Struct", "Class", "Module", "Data"})
_METHOD_MAKERS = frozenset({"define_method", "define_singleton_method"})
_LOADERS = frozenset({"require", "require_relative", "load", "autoload"})


def _method(node: Node, site: Site) -> Found | None:
    found = named(Kind.FUNCTION)(node, site)
    parameters = node.child_by_field_name("parameters")
    if found:  # a comment may stand between the head and the body's node
        found = found._replace(body=parameters.end_byte if parameters else -1)
    if found and any(parent.type in _HOLDERS for parent in site.parents[-_NEAR:]):
        return found._replace(kind=Kind.METHOD)
    return found


def _singleton_method(node: Node, site: Site) -> Found | None:
    found = _method(node, site)
    owner = node.child_by_field_name("object")
    if found is None or owner is None or owner.type == "self":
        return found
    return found._replace(scope=site.read(owner).replace("::", "."))


def _container(kind: str) -> Callable[[Node, Site], Found | None]:
    def rule(node: Node, site: Site) -> Found | None:
        found = named(kind, bases=("superclass",))(node, site)
        if found is None:
            return None
        scope, name = qualified(found.name, "::")
        return found._replace(scope=scope, name=name, body=-1)

    return rule


def _made_class(node: Node, site: Site) -> Found | None:
    """``Point = Struct.new(:x) do ... end``."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    maker = right.child_by_field_name("receiver") if right and right.type == "call" else None
    if left is None or left.type != "constant" or maker is None or site.read(maker) not in _CLASS_MAKERS:
        return None
    return Found(Kind.CLASS, site.read(left), left.start_byte)


def _made_method(node: Node, site: Site) -> Found | None:
    """``define_method(:name) { ... }``, unless the name is computed."""
    maker, arguments = node.child_by_field_name("method"), node.child_by_field_name("arguments")
    if maker is None or arguments is None or site.read(maker) not in _METHOD_MAKERS:
        return None
    name = child(arguments, "simple_symbol", "string")
    if name is None or child(name, "interpolation"):
        return None
    return Found(Kind.METHOD, site.read(name).strip(":\"'"), name.start_byte)


def _required(node: Node, site: Site) -> Iterable[str]:
    loader, arguments = node.child_by_field_name("method"), node.child_by_field_name("arguments")
    if loader is None or arguments is None or site.read(loader) not in _LOADERS:
        return []
    strings = [argument for argument in arguments.named_children if argument.type == "string"]
    if strings:
        return [site.read(strings[-1])]
    # ``File.expand_path("../a", __FILE__)`` and ``File.join(__dir__, "a")``
    made = next(iter(arguments.named_children), None)
    inside = made.child_by_field_name("arguments") if made and made.type == "call" else None
    paths = [site.read(one).strip("\"'") for one in (inside.named_children if inside else ())]
    from_file = paths[-1:] == ["__FILE__"]  # as if the file were a folder: the first step up leads to its own
    strings = [one for one in (inside.named_children if inside else ()) if one.type == "string"]
    return [site.read(one).strip("\"'").removeprefix("../" if from_file else "") for one in strings[-1:]]


TABLE = Table(
    grammar="ruby",
    definitions={
        "module": _container(Kind.NAMESPACE),
        "class": _container(Kind.CLASS),
        "method": _method,
        "singleton_method": _singleton_method,
        "assignment": _made_class,
        "call": _made_method,
    },
    # ``private def name`` is one definition.
    wrappers=frozenset({"call", "argument_list"}),
    imports={"call": _required},
    leaves=frozenset({"identifier", "constant", "string", "simple_symbol", "integer", "instance_variable"}),
)
