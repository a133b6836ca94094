"""Encodings: decided by evidence, and never a wrong guess that looks like text."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.scan.text import Text, decode
from indexer.types import Reason

ENCODINGS = ("gb18030", "big5")
SIMPLIFIED = (
    "# 返回当前用户的所有配置项,如果不存在则创建默认值。\ndef 读取(): pass\n// 说明:计算两个日期之间的天数\n"
)
TRADITIONAL = "# 傳回目前使用者的所有設定,如果不存在則建立預設值。\n// 說明:計算兩個日期之間的天數\n"


def encoding_of(data: bytes, encodings: tuple[str, ...] = ENCODINGS) -> str:
    result = decode(data, encodings)
    return result if isinstance(result, str) else result.encoding


@pytest.mark.parametrize(
    "text", ["", "def f(): pass\n", "é ü 中文 emoji 🎉\r\n", "\ufeffx = 1\n", "form\x0cfeed\rlone\x1b[0m"]
)
def test_utf8_is_itself(text: str) -> None:
    data = text.encode()
    assert decode(data, ENCODINGS) == Text("utf-8", data)


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_marked_unicode_s007(codec: str) -> None:
    text = "\ufeffclass Größe: '名前 🎉'\r\n"
    assert decode(text.encode(codec), ENCODINGS) == Text(codec, text.encode())
    assert decode("\ufeff".encode(codec), ENCODINGS) == Text(codec, b"\xef\xbb\xbf")
    assert encoding_of((text + "\0").encode(codec)) == Reason.BINARY


def test_marked_but_broken_is_not_replaced() -> None:
    assert encoding_of(codecs.BOM_UTF16_LE + b"a\0b") == Reason.ENCODING
    assert encoding_of(codecs.BOM_UTF16_LE + b"\x00\xd8a\x00") == Reason.ENCODING


@pytest.mark.parametrize(
    "data", [b"\0", b"\0\1\0\0" + b"x" * 100, b"text\0", b"\x89PNG\r\n\x1a\n\0\0", b"x" * 100_000 + b"\0"]
)
def test_a_nul_anywhere_is_binary_s047(data: bytes) -> None:
    assert encoding_of(data) == Reason.BINARY


def test_compressed_bytes_without_a_nul_are_binary() -> None:
    noise = bytes((n * 7919 + n * n * 31) % 255 + 1 for n in range(4000))
    assert encoding_of(noise) == Reason.BINARY


@pytest.mark.parametrize(
    ("text", "codec", "name"),
    [
        (SIMPLIFIED, "gb18030", "gb18030"),
        (SIMPLIFIED, "gbk", "gb18030"),
        (SIMPLIFIED.replace("#", "# 𠮷"), "gb18030", "gb18030"),
        (TRADITIONAL, "gb18030", "gb18030"),
        (TRADITIONAL, "big5", "big5"),
        ("x = 1  # 注释\n", "gb18030", "gb18030"),
        ("x = 1  # 註解\n", "big5", "big5"),
        ('printf("错误: %s\\n");', "gb18030", "gb18030"),
        ("int a; // 返回值\n" * 1000, "gb18030", "gb18030"),
    ],
)  # fmt: skip
def test_chinese(text: str, codec: str, name: str) -> None:
    for order in (ENCODINGS, ENCODINGS[::-1]):
        assert decode(text.encode(codec), order) == Text(name, text.encode())


OTHERS = [
    ("# café, détail, Übergröße, señor, naïve\n", "latin-1"),
    ("x = 'café'\n", "latin-1"),
    ("für Größe Maßstab heißt schließen\n", "latin-1"),
    ("ß", "latin-1"),
    ("Straße", "latin-1"),
    # Each of these holds a letter that makes a *common* Chinese character with the letter after it.
    ("zurück zum Stück", "latin-1"),
    ("un privilége", "latin-1"),
    ("rekordów", "iso8859-2"),
    ("tío de aquí:", "latin-1"),
    ("über", "cp1252"),
    ("łódź, zażółć gęślą jaźń\n", "iso8859-2"),
    ("# Возвращает текущего пользователя и его настройки\n", "cp1251"),
    ("# Возвращает текущего пользователя и его настройки\n", "koi8-r"),
    ("# Επιστρέφει τον τρέχοντα χρήστη\n", "iso8859-7"),
    ("# 現在のユーザーの設定をすべて返します。存在しない場合は作成します。\n", "shift_jis"),
    ("# 현재 사용자의 모든 설정을 반환하고 존재하지 않으면 기본값을 만듭니다\n", "euc-kr"),
    ("caf\xe9 \x93quoted\x94\n", "latin-1"),
]


@pytest.mark.parametrize(("text", "codec"), OTHERS)
def test_other_eight_bit_texts_are_kept_as_their_bytes_s003(text: str, codec: str) -> None:
    data = text.encode(codec)
    assert decode(data, ENCODINGS) == Text("unknown-8bit", data)
    assert decode(data, ()) == Text("unknown-8bit", data)


def test_an_encoding_the_user_names_is_used() -> None:
    data = "# café\n".encode("latin-1")
    assert decode(data, (*ENCODINGS, "latin-1")) == Text("latin-1", "# café\n".encode())
    assert decode("# 返回所有用户的配置".encode("gb18030"), (*ENCODINGS, "latin-1")).__class__ is Text
    assert encoding_of("# 返回所有用户的配置".encode("gb18030"), ("latin-1", "gb18030")) == "latin-1"
    assert encoding_of("# 返回所有用户的配置".encode("gb18030"), ("gb18030", "latin-1")) == "gb18030"
    assert encoding_of(b"# \x93quoted\x94\n", ("latin-1", "cp1252")) == "cp1252"


WESTERN = "äöüßéèêàçñåøæíóúãõÄÖÜÉ"


@given(st.lists(st.text("abcdefghijklmnopqrstuvwxyz", max_size=6).flatmap(
    lambda word: st.sampled_from([word, *(word + letter + "nen" for letter in WESTERN), *("st" + letter + word for letter in WESTERN)])
), min_size=1, max_size=30))  # fmt: skip
def test_words_of_western_europe_are_never_chinese(words: list[str]) -> None:
    data = " ".join(words).encode("latin-1")
    assert encoding_of(data) in {"utf-8", "unknown-8bit"}


@given(st.binary(max_size=200))
def test_any_bytes_have_an_answer(data: bytes) -> None:
    result = decode(data, ENCODINGS)
    if isinstance(result, str):
        assert result in {Reason.BINARY, Reason.ENCODING}
    elif result.encoding in {"utf-8", "unknown-8bit"}:
        assert result.utf8 == data
    else:
        assert result.utf8.decode().encode(result.encoding) == data or result.encoding == "gb18030"
