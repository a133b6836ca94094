"""Settings: documented equal to built in, errors that name the place, and repositories that may only narrow."""

from __future__ import annotations

from pathlib import Path

import platformdirs
import pytest

from indexer import config
from indexer.errors import ConfigError
from indexer.merging import RULES, merge
from indexer.settings import Settings

REPO = Path(__file__).resolve().parent.parent


def test_documented_settings_are_the_built_in_defaults() -> None:
    table = config.read_toml(REPO / "config.toml")
    assert merge(Settings(), table, "config.toml", trusted=True) == Settings()
    for name, section in Settings()._asdict().items():
        assert set(table[name]) == set(section._fields)


def test_repository_marks_in_the_documentation_are_true() -> None:
    text = (REPO / "config.toml").read_text(encoding="utf-8")
    marked = sum(bool(rule.repository) for rule in RULES.values())
    assert text.count("# [repository]") + text.count(". [repository]") == marked


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[chunk]\nmax_token = 3",
            "chunk.max_token: unknown setting; known in [chunk] are max_tokens, overlap",
        ),
        ("[chunks]\nmax_tokens = 3", "chunks: unknown section; known are scan, chunk"),
        ("chunk = 3", "chunk: expected a table, got 3"),
        ("[chunk]\nmax_tokens = 'x'", 'chunk.max_tokens: expected a whole number from 32 to 8192, got "x"'),
        ("[chunk]\nmax_tokens = true", "chunk.max_tokens: expected a whole number from 32 to 8192, got True"),
        ("[chunk]\nmax_tokens = 3", "chunk.max_tokens: expected a whole number from 32 to 8192, got 3"),
        ("[scan]\nsecrets = 1", "scan.secrets: expected true or false, got 1"),
        ("[scan]\nexclude = 'x'", 'scan.exclude: expected a list of strings, got "x"'),
        ("[scan]\nexclude = [1]", "scan.exclude: expected a list of strings, got [1]"),
        (
            "[scan]\nencodings = ['klingon']",
            'scan.encodings: expected names of text encodings, got "klingon"',
        ),
        ("[scan]\nencodings = ['hex']", 'scan.encodings: expected names of text encodings, got "hex"'),
        ("[search]\nmode = 'magic'", "search.mode: expected a string, one of hybrid, lexical, dense"),
        ("[search]\nmin_score = nan", "search.min_score: expected a number from 0 to 1e+09, got nan"),
        ("[store]\ndir = 1", "store.dir: expected a string, got 1"),
        ('[store]\ndir = "a\\u0000b"', "store.dir: expected a string, got "),
        (
            f"[search]\nmin_score = {'9' * 400}",
            "search.min_score: expected a number from 0 to 1e+09, got 999",
        ),
        (f"[search]\nk = {'9' * 5000}", "not valid TOML: Exceeds the limit"),
        (
            f"[search]\nk = 0x{'f' * 5000}",
            "search.k: expected a whole number from 1 to 1000, got what is too large",
        ),
        (
            f"[search]\nweak_below = 0x{'f' * 5000}",
            "weak_below: expected a number from 0 to 1e+09, got what is too",
        ),
        (
            f"[scan.exclude{'.a' * 3000}]",
            "scan.exclude: expected a list of strings, got what is too large to show",
        ),
        (f"[scan]\nexclude = {'[' * 3000}{']' * 3000}", "not valid TOML: maximum recursion depth"),
        ("[chunk]\noverlap = 400", "chunk.overlap: expected at most half of chunk.max_tokens (256), got 400"),
        ("[scan", "not valid TOML"),
    ],
)
def test_errors_name_file_key_and_expectation(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        config.load(config=file)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value).removeprefix(str(file))
    if "overlap" not in text:
        assert str(caught.value).startswith(str(file))


def test_a_named_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        config.load(config=tmp_path / "none.toml")


def write_repository(root: Path, text: str) -> None:
    (root / ".indexer.toml").write_text(text, encoding="utf-8")


def test_a_repository_narrows(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text("[scan]\nexclude = ['a']\nmax_file_bytes = 500", encoding="utf-8")
    write_repository(tmp_path, "[scan]\nexclude = ['b']\nmax_file_bytes = 900\n[chunk]\nmax_tokens = 100")
    settings = config.load(tmp_path, mine)
    assert settings.scan.exclude == ("a", "b")
    assert settings.scan.max_file_bytes == 500
    assert settings.chunk.max_tokens == 100


@pytest.mark.parametrize(
    "text",
    [
        "[store]\ndir = '/tmp/x'",
        "[embed]\nmodel = 'http://example.org'",
        "[scan]\nsecrets = false",
        "[scan]\ninclude = ['**']",
        "[worker]\nprocesses = 64",
        "[search]\nk = 5",
    ],
)
def test_a_repository_may_not_set_the_rest(tmp_path: Path, text: str) -> None:
    write_repository(tmp_path, text)
    mine = tmp_path / "mine.toml"
    mine.write_text("", encoding="utf-8")
    with pytest.raises(ConfigError, match="a repository may not set this"):
        config.load(tmp_path, mine)


def test_a_linked_repository_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere.toml").write_text("", encoding="utf-8")
    (tmp_path / ".indexer.toml").symlink_to(tmp_path / "elsewhere.toml")
    with pytest.raises(ConfigError, match="symbolic link"):
        config.load(tmp_path, tmp_path / "elsewhere.toml")


def test_one_folder_of_indexes_serves_many_roots(tmp_path: Path) -> None:
    settings = merge(Settings(), {"store": {"dir": str(tmp_path)}}, "x", trusted=True)
    one = config.index_dir(Path("/a/project"), settings)
    other = config.index_dir(Path("/b/project"), settings)
    assert one.parent == other.parent == tmp_path
    assert one != other
    assert config.index_dir(Path("/a/project"), Settings()) == Path("/a/project/.indexer")


def test_a_folder_of_indexes_in_nobodys_home_is_an_error() -> None:
    settings = merge(Settings(), {"store": {"dir": "~nobody-has-this-name/x"}}, "x", trusted=True)
    with pytest.raises(ConfigError, match=r"store\.dir"):
        config.index_dir(Path("/a/project"), settings)


@pytest.mark.parametrize("value", [None, "", "  ", "/somewhere/else", "relative"])
def test_the_users_file_is_where_the_platform_has_it(
    monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    if value is None:
        monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    else:
        monkeypatch.setenv("XDG_CONFIG_HOME", value)
    wanted = platformdirs.user_config_dir("indexer", appauthor=False)
    assert config.user_file() == Path(wanted) / "config.toml"
