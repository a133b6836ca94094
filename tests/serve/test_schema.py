"""The schema is one that a validator takes, names every method, and says the same of parameters as the decoder does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from indexer.serve import methods, schema
from indexer.serve.calls import params_of
from indexer.serve.protocol import PROTOCOL, RpcError

DOCUMENT = schema.schema()


def validator(section: str, name: str, part: str = "") -> Draft202012Validator:
    found = DOCUMENT[section][name]
    return Draft202012Validator({**(found[part] if part else found), "$defs": DOCUMENT["$defs"]})


def test_it_is_a_json_schema() -> None:
    Draft202012Validator.check_schema(DOCUMENT)
    for definition in DOCUMENT["$defs"].values():
        Draft202012Validator.check_schema(definition)
    Draft202012Validator.check_schema(json.loads(json.dumps(DOCUMENT)))
    assert DOCUMENT["protocol"] == PROTOCOL


def test_every_reference_leads_somewhere() -> None:
    def references(value: Any) -> list[str]:
        if isinstance(value, dict):
            return [v for k, v in value.items() if k == "$ref"] + [
                r for v in value.values() for r in references(v)
            ]
        return [r for v in value for r in references(v)] if isinstance(value, list) else []

    found = references(DOCUMENT)
    assert found
    assert {ref.removeprefix("#/$defs/") for ref in found} == set(DOCUMENT["$defs"])


def test_every_method_has_a_shape_and_every_shape_a_method() -> None:
    assert set(methods.METHODS) == set(schema.METHODS) == set(DOCUMENT["methods"])


def test_every_type_says_what_it_is() -> None:
    assert all(definition.get("description") for definition in DOCUMENT["$defs"].values())


fields = st.sampled_from([
    "query", "k", "mode", "path", "lang", "kind", "min_score", "literal", "freshness", "timeout_ms", "name", "line", "full", "x",
    "calls", "inherits", "explain", "within",
])  # fmt: skip
values = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 2000), st.just(2.5), st.text(max_size=3), st.lists(st.text(max_size=3), max_size=2),
    st.sampled_from(["wait", "now", "hybrid", "src/**"]), st.just([1]), st.just({}),
)  # fmt: skip


@pytest.mark.parametrize(
    "name", [name for name, shape in schema.METHODS.items() if shape.params not in {schema.Initialize, schema.NoParams}]
)  # fmt: skip
@settings(deadline=None, max_examples=150)
@given(params=st.dictionaries(fields, values, max_size=4))
def test_decoder_and_schema_agree_on_parameters(name: str, params: dict[str, Any]) -> None:
    try:
        params_of(json.dumps(params).encode(), schema.METHODS[name].params)
        taken = True
    except RpcError:
        taken = False
    assert taken == validator("methods", name, "params").is_valid(params)


def test_a_schema_that_says_otherwise_is_caught() -> None:
    """The suite can fail: with another method's schema they disagree."""
    params_of(b'{"query":"a","k":5}', schema.SearchParams)
    assert not validator("methods", "workspace/symbol", "params").is_valid({"k": 5})
    assert not validator("methods", "index/sync", "params").is_valid({"query": "a", "k": 5})
