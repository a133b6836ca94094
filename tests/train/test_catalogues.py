"""Messages of programs: each format is read, files of two languages are laid side by side, and what is not words is out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from indexer.train.catalogues import is_chinese, messages_of, pairs_of, partner
from indexer.train.catalogues_clean import cleaned, plain
from indexer.train.catalogues_read import (
    of_json,
    of_po,
    of_properties,
    of_script,
    of_xliff,
    of_yaml,
    unescaped,
)
from indexer.train.sources import Source

PO = r"""
msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\n"

#: main.c:1
msgid "Open the file"
msgstr "打开文件"

#, fuzzy
msgid "Close the file"
msgstr "打开文件夹"

msgid "%d file"
msgid_plural "%d files were removed"
msgstr[0] "已删除 %d 个文件"

msgctxt "menu"
msgid "Save "
"everything"
msgstr "全部"
"保存"

msgid "Not translated"
msgstr ""

#~ msgid "Gone long ago"
#~ msgstr "早已不用"
"""


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_of_a_gettext_file_only_what_is_translated_and_in_use(tmp_path: Path) -> None:
    assert of_po(written(tmp_path / "zh_CN.po", PO)) == [
        ("Open the file", "打开文件"),
        ("%d files were removed", "已删除 %d 个文件"),
        ("Save everything", "全部保存"),
    ]


def test_json_messages_are_known_by_the_way_to_them(tmp_path: Path) -> None:
    path = written(tmp_path / "zh-CN.json", '{"menu": {"open": "打开", "n": 3}, "tips": ["一", {"x": "二"}]}')
    assert list(of_json(path).values()) == ["打开", "一", "二"]
    assert len(of_json(path)) == 3


def test_yaml_messages_are_known_as_those_of_json(tmp_path: Path) -> None:
    path = written(tmp_path / "zh-hans.yaml", "menu:\n  open: 打开\n  n: =\ntips:\n- 一\n")
    assert of_yaml(path) == {"\0menu\0open": "打开", "\0menu\0n": "=", "\0tips\x000": "一"}


def test_properties_with_escapes_continued_lines_and_comments(tmp_path: Path) -> None:
    text = "# comment\n! too\na.b=\\u6253\\u5f00\nc : two \\\n   lines\nd\\=e = x=y\n\nempty\n"
    assert of_properties(written(tmp_path / "m_zh_CN.properties", text)) == {
        "a.b": "打开",
        "c": "two lines",
        "d\\=e": "x=y",
        "empty": "",
    }


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.js", "export default { el: { open: '打开', 'deep-er': { x: `关闭` } } }"),
        ("a.ts", "const zh: T = { el: { open: '打开', 'deep-er': { x: '关\\u95ed' } } }; export default zh"),
        ("a.mjs", 'const zh_CN = {}\nzh_CN.strings = { el: { open: "打开", "deep-er": { x: "关闭" } } }'),
    ],
)
def test_texts_of_a_script_whatever_its_table_is_called(tmp_path: Path, name: str, text: str) -> None:
    assert of_script(written(tmp_path / name, text)) == {"\0el\0open": "打开", "\0el\0deep-er\0x": "关闭"}


def test_texts_that_are_assigned_by_key(tmp_path: Path) -> None:
    text = 'var Msg = Msg || {};\nMsg["ADD"] = "添加 \\"注释\\"";\n'
    assert list(of_script(written(tmp_path / "a.js", text)).values()) == ['添加 "注释"']


def test_xliff_units_with_a_target(tmp_path: Path) -> None:
    text = (
        '<xliff xmlns="urn:oasis:names:tc:xliff:document:1.2"><file><body>'
        "<trans-unit id='1'><source>Too <b>long</b></source><target>太长</target></trans-unit>"
        "<trans-unit id='2'><source>Left out</source></trans-unit></body></file></xliff>"
    )
    assert of_xliff(written(tmp_path / "v.zh_CN.xlf", text)) == [("Too long", "太长")]


def test_escapes() -> None:
    assert unescaped(r"\u4e2d\x41\n\'\\u{6587}") == "中A\n'\\u{6587}"
    assert unescaped("a\\\nb") == "ab"


@pytest.mark.parametrize(
    ("path", "chinese"),
    [
        ("locale/zh_CN/LC_MESSAGES/django.po", True),
        ("locale/zh_Hans/LC_MESSAGES/django.po", True),
        ("po/zh_CN.po", True),
        ("i18n/zh.json", True),
        ("m_zh_CN.properties", True),
        ("locale/zh-hans.js", True),
        ("po/zh_TW.po", False),
        ("locale/zh-Hant/a.json", False),
        ("locale/zh_HK.json", False),
        ("src/zhang.json", False),
        ("locale/zh_CN/readme.md", False),
        ("cldr/zh_CN.json", False),
    ],
)
def test_which_paths_say_chinese(path: str, chinese: bool) -> None:
    assert is_chinese(Path(path)) is chinese


@pytest.mark.parametrize(
    ("chinese", "english"),
    [
        ("locales/zh-CN/editor.json", "locales/en-US/editor.json"),
        ("translations/zh.json", "translations/en.json"),
        ("lang/zhCN.ts", "lang/enUS.ts"),
        ("m/messagebundle_zh_CN.properties", "m/messagebundle.properties"),
        ("m/LocalStrings_zh_CN.properties", "m/LocalStrings_en.properties"),
    ],
)
def test_the_english_file_lies_in_the_same_place(tmp_path: Path, chinese: str, english: str) -> None:
    written(tmp_path / english, "{}")
    assert partner(written(tmp_path / chinese, "{}"), tmp_path) == tmp_path / english


def test_a_file_without_a_partner_has_none(tmp_path: Path) -> None:
    written(tmp_path / "fr.json", "{}")
    assert partner(written(tmp_path / "zh.json", "{}"), tmp_path) is None


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Cannot open %(name)s: %s", "Cannot open"),
        ("打开文件(&O)...", "打开文件"),
        ("已删除%d个文件: %m", "已删除 个文件"),
        ("Run the [data tool](https://example.org/x(1)) on @property", "Run the data tool on @property"),
        ("&File {0} of {{count}}", "File of"),
        ("See <a href='x'>the manual</a> at https://example.org/a?b", "See the manual at"),
        ("Calls [method Node.get_child] on the [b]parent[/b]", "Calls Node.get_child on the parent"),
        ("路径“%s”没有 `{1}`", "路径 没有"),
    ],
)
def test_what_is_not_words_is_taken_out(text: str, left: str) -> None:
    assert plain(text) == left


def test_long_messages_are_cut_where_both_languages_cut_them() -> None:
    assert cleaned("It is open. Close it first.", "它是打开的。请先关闭它。") == [
        ("它是打开的", "It is open"),
        ("请先关闭它", "Close it first"),
    ]
    assert cleaned("One line\nAnother line", "第一行\n另一行") == [
        ("第一行", "One line"),
        ("另一行", "Another line"),
    ]
    assert cleaned("It is open. Close it.", "请关闭打开的文件。") == [
        ("请关闭打开的文件", "It is open. Close it")
    ]


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("OK", "好"),
        ("Same words", "Same words"),
        ("%s", "%s 项目"),
        ("word " * 61, "词语" * 40),
        ("已经是中文 text", "已经是中文"),
        ("A sentence about nothing " + "and so on " * 10, "短的只有这九个字吧"),
    ],
)
def test_pairs_that_teach_nothing_are_left_out(english: str, chinese: str) -> None:
    assert cleaned(english, chinese) == []


def a_source(name: str) -> Source:
    return Source(
        language="zh", name=name, kind="npm", version="1.0", licence="MIT", sha256="0" * 64, take="catalogue"
    )


def test_pairs_of_packages_stand_once_with_their_project(tmp_path: Path) -> None:
    for name in ("one", "two"):
        folder = tmp_path / a_source(name).folder
        written(
            folder / "en.json",
            json.dumps({"a": "Open the file", "b": "Only English", "c": f"Made by {name}"}),
        )
        written(folder / "zh-CN.json", json.dumps({"a": "打开文件", "c": f"由 {name} 制作"}))
    found = list(pairs_of([a_source("one"), a_source("two")], tmp_path))
    assert [(pair["left"], pair["right"], pair["project"]) for pair in found] == [
        ("打开文件", "Open the file", "one"),
        ("由 one 制作", "Made by one", "one"),
        ("由 two 制作", "Made by two", "two"),
    ]
    assert {pair["kind"] for pair in found} == {"zh"}


def test_packages_with_ways_of_their_own(tmp_path: Path) -> None:
    jed = tmp_path / "zh" / "jupyterlab-language-pack-zh-cn-1"
    written(jed / "zh_CN/lab.json", json.dumps({"": {}, "menu\x04Run the cell": ["运行单元格"]}))
    assert list(messages_of(jed)) == [("Run the cell", "运行单元格")]

    pack = tmp_path / "zh" / "@codingame+monaco-vscode-language-pack-zh-hans-2"
    written(pack / "t/git.i18n.json", json.dumps({"contents": {"bundle": {"Sync it/{Locked=x}": "同步它"}}}))
    written(
        pack / "t/main.i18n.json.js", 'var content = [\n\tundefined,\n\t"打开编辑器",\n\t"关闭 \\"它\\""\n];'
    )
    api = tmp_path / "zh" / "@codingame+monaco-vscode-api-2"
    written(
        api / "a.js", "x(localize(1, 'Open the editor'), localize2(\n  2, \"Close it\"), localize(9, 'none'))"
    )
    assert sorted(messages_of(pack)) == [
        ("Close it", '关闭 "它"'),
        ("Open the editor", "打开编辑器"),
        ("Sync it", "同步它"),
    ]

    compiler = tmp_path / "zh" / "typescript-5"
    written(compiler / "package/lib/_tsc.js", 'A: diag(7, 1 /* Error */, "A_7", "A name is \\"missing\\"."),')
    written(
        compiler / "package/lib/zh-cn/diagnosticMessages.generated.json", '{"A_7": "缺少名称。", "B_8": "无"}'
    )
    assert list(messages_of(compiler)) == [('A name is "missing".', "缺少名称。")]


def test_a_broken_catalogue_is_told_and_the_others_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "zh" / "one-1"
    written(folder / "a/en.json", "{}")
    written(folder / "a/zh.json", "{ broken")
    written(folder / "b/zh_CN.po", PO)
    assert len(list(messages_of(folder))) == 3
    assert "a/zh.json" in capsys.readouterr().err
