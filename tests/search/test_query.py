"""Reading a question: what is a name, what is a word, and that no text is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.errors import QueryError
from indexer.search.query import Request, name_key, name_of, parse


@pytest.mark.parametrize(
    ("query", "name", "scope"),
    [
        ("QuerySet", "QuerySet", ()),
        ("QuerySet.filter", "filter", ("queryset",)),
        ("std::vector::push_back", "push_back", ("std", "vector")),
        ("Array#each", "each", ("array",)),
        ("ptr->next", "next", ("ptr",)),
        ("http.NewRequest", "NewRequest", ("http",)),
        ("where does get_queryset look", "get_queryset", ()),
        ("what calls django.setup()", "setup", ("django",)),
        ("filter", "filter", ()),
    ],
)
def test_names(query: str, name: str, scope: tuple[str, ...]) -> None:
    found = parse(query).names[0]
    assert (found.text, found.scope) == (name, scope)
    assert found.weight == (1.0 if " " not in query else 0.5)


def test_plain_words_are_names_of_less_weight_and_run_together() -> None:
    names = {name.key: name.weight for name in parse("how is the string view made").names}
    assert names["stringview"] > names["string"] > 0
    assert "is" not in names
    assert "thestring" not in names


@pytest.mark.parametrize(
    ("query", "topics"),
    [
        ("tests of the scheduler", {"test": 1.0}),
        ("unit_test helpers", {"test": 1.0}),
        ("where is the scheduler tested", {"test": 1.0}),
        ("how test functions are collected", {"test": 0.5}),
        ("latest contest", {}),
        ("usage examples", {"example": 1.0}),
        ("what does the README say", {"docs": 1.0}),
        ("third-party code", {"vendor": 1.0}),
        ("the builder", {}),
    ],
)
def test_topics(query: str, topics: dict[str, float]) -> None:
    assert parse(query).topics == topics


def test_files_that_are_mentioned() -> None:
    assert parse("what is in db/models.py and setup.cfg").files == ("db/models.py", "setup.cfg")


def test_keys_leave_case_and_underscores_aside() -> None:
    assert name_key("get_QuerySet") == "getqueryset"
    assert name_key("__") == "__"
    assert name_of("::").key == "::"


@pytest.mark.parametrize("query", ["", " ", "\n\t", "\0", " \0 "])
def test_an_empty_question_is_an_error(query: str) -> None:
    with pytest.raises(QueryError, match="the question is empty"):
        Request(query)


@pytest.mark.parametrize(
    ("filters", "words"),
    [
        ({"k": 0}, "k: expected at least 1"),
        ({"mode": "fuzzy"}, 'mode: expected one of hybrid, lexical, dense, got "fuzzy"'),
        ({"kind": ("klass",)}, 'kind: "klass" is none of cell, class'),
        ({"path": ("",)}, "path: a pattern is empty"),
        ({"path": ("!",)}, "path: a pattern is empty"),
    ],
)
def test_a_wrong_filter_is_an_error(filters: dict[str, object], words: str) -> None:
    with pytest.raises(QueryError, match=words) as raised:
        Request("x", **filters)  # type: ignore[arg-type]
    assert "\n" not in str(raised.value)


@given(st.text())
def test_any_text_can_be_parsed(query: str) -> None:
    parse(query)
