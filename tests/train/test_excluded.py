"""Nothing that a test is made of is trained on, whatever it is called."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from indexer.train.excluded import BENCHMARK, GROUPS, inner_reason, reason
from indexer.train.sources import read_list
from tests.benchmarks import functions, paraphrases

EVERY_NAME = [
    ("golang-github-spf13-cobra-dev", "cobra"),
    ("golang-github-go-chi-chi-dev", "chi"),
    ("golang-github-gin-gonic-gin-dev", "gin"),
    ("github.com/gin-gonic/gin", "gin"),
    ("librust-tokio-util-dev", "tokio"),
    ("librust-serde-json-dev", "serde"),
    ("serde_derive", "serde"),
    ("ruby-activesupport", "rails"),
    ("actionpack", "rails"),
    ("php-guzzlehttp-psr7", "guzzle"),
    ("illuminate/support", "laravel-framework"),
    ("libjackson2-databind-java", "jackson-databind"),
    ("org.apache.commons:commons-lang3", "commons-lang"),
    ("google/gson", "gson"),
    ("node-redis", "redis"),
    ("@reduxjs/toolkit", "redux"),
    ("@trpc/server", "trpc"),
    ("python-httpx", "httpx"),
    ("Flask_Cors", "flask"),
    ("quart", "flask"),
    ("typer", "click"),
    ("pydantic-core", "pydantic"),
    ("fastapi-slim", "fastapi"),
    ("libuv1", "libuv"),
    ("nlohmann-json3-dev", "nlohmann-json"),
    ("spdlog", "fmtlib"),
    ("com.neuecc.messagepack", "messagepack-csharp"),
    ("kotlinx-coroutines-core", "kotlinx-coroutines"),
    ("phoenix_live_view", "phoenix"),
    ("pip", "pip"),
]


@pytest.mark.parametrize(("name", "project"), EVERY_NAME)
def test_a_project_is_known_by_each_of_its_names(name: str, project: str) -> None:
    assert reason(name).startswith(f"{project} (")


@pytest.mark.parametrize(
    "name",
    [
        "numpy",
        "golang-golang-x-tools-dev",
        "librust-syn-dev",
        "libguava-java",
        "ruby-i18n",
        "lodash",
        "php-symfony-console",
    ],
)
def test_others_may_be_trained_on(name: str) -> None:
    assert reason(name) == ""


def test_every_project_is_left_out_by_its_own_name() -> None:
    for projects in GROUPS.values():
        assert [project for project in projects if not reason(project)] == []


def test_the_benchmark_has_sixty_three_projects() -> None:
    assert len(BENCHMARK) == 63


def test_what_the_tests_are_made_of_is_left_out() -> None:
    listed = json.loads(paraphrases.LIST.read_text(encoding="utf-8"))["projects"].values()
    names = [source.name for source in read_list(functions.LIST)] + [one["package"] for one in listed]
    assert [name for name in names if not reason(name)] == []


def test_what_is_trained_on_is_not_left_out() -> None:
    assert [source.name for source in read_list() if reason(source.name)] == []


def test_a_copy_inside_another_package_is_left_out() -> None:
    assert inner_reason("python", "pip/_internal/requests/api.py") == "requests"
    assert inner_reason("cpp", "include/spdlog/fmt/core.h") == "fmt"
    assert inner_reason("typescript", "src/zod/types.ts") == "zod"
    assert inner_reason("go", "src/fmt/print.go") == ""  # Go's own
    assert inner_reason("python", str(Path("requests.py"))) == ""  # a file is no folder
