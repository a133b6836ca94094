"""What modules that a short command loads need of `typing`, which takes as long to load as all of them together.

    from indexer.plainly import TYPE_CHECKING, NamedTuple

Type checkers know the first by its name and take the second for typing's own, and ruff takes this module for typing
(``typing-modules`` in pyproject.toml). Everywhere else `typing` itself is used: ``tests/test_counts.py`` says which
commands must not load it.
"""

from __future__ import annotations

from collections import namedtuple

__all__ = ["TYPE_CHECKING", "NamedTuple"]

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import NamedTuple
else:

    class _Maker(type):
        """Makes a named tuple of a class's annotations, as `typing.NamedTuple` does, and compiles none of them."""

        def __new__(cls, name, bases, space):
            if not bases:
                return super().__new__(cls, name, bases, space)
            fields = space.get("__annotations__", {})
            defaults = [space.pop(field) for field in fields if field in space]
            made = namedtuple(name, fields, defaults=defaults, module=space["__module__"])  # noqa: PYI024
            for key, value in space.items():
                setattr(made, key, value)
            return made

    class NamedTuple(metaclass=_Maker):
        """As `typing.NamedTuple`."""
