"""Two messages that say the same become plain sentences, or nothing.

What a program puts in (placeholders), how it is shown (mark-up, access keys) and addresses say nothing about the
words beside them, and would be learnt by heart. A long message is cut where both languages cut it.
"""

from __future__ import annotations

import html
import re

LEAST, MOST = 2, 60  # words of English
MOST_SIGNS = 120  # Chinese characters
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_'’-]*")
_ADDRESS = re.compile(r"(?:https?|ftp|file)://\S+|\bwww\.\S+|\S+@\S+\.\w+", re.ASCII)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_CODE_TAG = re.compile(
    r"\[/?(?:b|i|u|s|code|codeblock|codeblocks|center|url|img|font|color|gdscript|csharp|kbd)[^\]]*\]"
)
# Class references name things as [method Node.get_child]: the name is a word of the sentence.
_NAMED = re.compile(
    r"\[(?:method|member|signal|constant|enum|theme_item|annotation|param|operator)\s+([^\]\s]+)\]"
)
_LINK = re.compile(r"\[([^\[\]]*)\]\((?:[^()]|\([^()]*\))*\)")
# "%d个": a Chinese sign is a letter to `\b`, so what follows is said in ASCII.
_PLACEHOLDER = re.compile(
    r"%\(\w+\)[sdifr]|%\d+\$[-+0-9.]*[a-zA-Z]|%[-+0#]*\d*(?:\.\d+)?(?:l|ll|z|h)?[sdiumfgexXcrpqm@](?![A-Za-z0-9_])"
    r"|%(?=\s|$|[^\w\s])|%\d+|\$\{[^{}]*\}|\{\{[^{}]*\}\}|\{[^{}]{0,40}\}|\$\d|\\[nrt]|<<[^<>]*>>"
)
_ACCESS_KEY = re.compile(r"[(（]\s*[&_]\w\s*[)）]")
_MARK = re.compile(r"&(?=\w)|&&|[`*]{1,3}|\\")
_NOTHING_QUOTED = re.compile(r"[\"'“‘「`]\s*[\"'”’」`]|[(（]\s*[)）]|\[\s*\]")
_SPACES = re.compile(r"[\s\u3000]+")
_EDGES = " \t.,;:!?…-–—_/|=+#<>()[]{}\"'“”‘’，。；：！？、（）【】《》「」·~"
_ENGLISH_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\[\"'`])")
_CHINESE_END = re.compile(r"(?<=[。！？])\s*")


def cleaned(english: str, chinese: str) -> list[tuple[str, str]]:
    """The pairs (Chinese, English) that a message and its translation give: one a sentence, none if unfit."""
    found = []
    for one, other in _split(english, chinese):
        left, right = plain(other), plain(one)
        if _fits(left, right):
            found.append((left, right))
    return found


def plain(text: str) -> str:
    """A message without mark-up, placeholders, access keys and addresses."""
    text = _ADDRESS.sub(" ", _LINK.sub(r"\1", html.unescape(text)))
    text = _NAMED.sub(r"\1", _TAG.sub(" ", text))
    text = _CODE_TAG.sub(" ", text)
    text = _ACCESS_KEY.sub(" ", text)
    text = _MARK.sub("", _PLACEHOLDER.sub(" ", text))
    text = _NOTHING_QUOTED.sub(" ", text)
    return _SPACES.sub(" ", text).strip(_EDGES)


def _split(english: str, chinese: str) -> list[tuple[str, str]]:
    """Paragraphs, then sentences, wherever both sides have as many; else the whole."""
    pairs = [(english, chinese)]
    for cut in (_paragraphs, _sentences):
        pairs = [pair for whole in pairs for pair in cut(*whole)]
    return pairs


def _paragraphs(english: str, chinese: str) -> list[tuple[str, str]]:
    ones = [part for part in english.split("\n") if part.strip()]
    others = [part for part in chinese.split("\n") if part.strip()]
    return list(zip(ones, others, strict=True)) if len(ones) == len(others) else [(english, chinese)]


def _sentences(english: str, chinese: str) -> list[tuple[str, str]]:
    ones = [part for part in _ENGLISH_END.split(english) if part.strip()]
    others = [part for part in _CHINESE_END.split(chinese) if part.strip()]
    return list(zip(ones, others, strict=True)) if len(ones) == len(others) else [(english, chinese)]


def _fits(chinese: str, english: str) -> bool:
    signs, words = len(_HAN.findall(chinese)), _WORD.findall(english)
    if not LEAST <= signs <= MOST_SIGNS or len(words) > MOST or _HAN.search(english):
        return False
    if len(words) < LEAST:  # one word is as good as an entry of a dictionary, when it is a word
        return len(words) == 1 and len(words[0]) > 2 and signs <= 8
    # A translation that is much shorter or longer than its source is another text.
    return 0.25 <= signs / (1.7 * len(words)) <= 4 or signs < 8
