from __future__ import annotations

import pytest

from indexer.search.places import Place, places_of


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("tests/test_a.py", Place.TEST),
        ("src/foo/__tests__/a.ts", Place.TEST),
        ("a.test.ts", Place.TEST),
        ("a_test.go", Place.TEST),
        ("test_a.py", Place.TEST),
        ("src/FooTest.java", Place.TEST),
        ("src/FooTests.cs", Place.TEST),
        ("spec/models/user_spec.rb", Place.TEST),
        ("Src/Lib.Tests/A.cs", Place.TEST),
        ("core/jvmTest/A.kt", Place.TEST),
        ("conftest.py", Place.TEST),
        ("examples/a.py", Place.EXAMPLE),
        ("benches/../benchmarks/a.rs", Place.EXAMPLE),
        ("docs/conf.py", Place.DOCS),
        ("README.md", Place.DOCS),
        ("vendor/lib/a.go", Place.VENDOR),
        ("node_modules/a/b.js", Place.VENDOR),
        ("a_pb2.py", Place.GENERATED),
        ("api.pb.go", Place.GENERATED),
        ("a.min.js", Place.GENERATED),
        ("package.json", Place.DATA),
        ("src/compat.py", Place.LEGACY),
    ],
)
def test_places(path: str, place: int) -> None:
    assert places_of(path) & place


@pytest.mark.parametrize(
    "path",
    [
        "pytest/python.py",
        "unittest/case.py",
        "src/latest.py",
        "contest.go",
        "django/test.d/client.py".replace("test.d", "testing_tools"),
        "src/protest/a.c",
        "src/attestation.rs",
        "lib/greatest.js",
        "specification.py",
        "lib/inspect.py",
        "vitest/src/runtime/index.ts",
    ],
)
def test_production_code_is_no_place(path: str) -> None:
    assert places_of(path) == 0
