"""A second opinion for the languages that universal-ctags cannot read: Swift, Scala, Dart, Zig.

Comments and strings are blanked first (line for line), then lines that look like the head of a named function or
class-like definition are listed. Written apart from the tables, from the languages' own syntax, so that the two do
not share their mistakes.
"""

from __future__ import annotations

import re

_STRING = r'"(?:\\.|[^"\\\n])*"'
_SLASH_COMMENTS = r"//[^\n]*|/\*.*?\*/"

_OPAQUE = {
    "swift": re.compile(rf'{_SLASH_COMMENTS}|#*"""(?:\\.|[^\\])*?"""#*|#"[^\n]*?"#|{_STRING}', re.DOTALL),
    "scala": re.compile(rf'{_SLASH_COMMENTS}|\w?""".*?"""+|{_STRING}|\'(?:\\.|[^\'\\\n])\'', re.DOTALL),
    "dart": re.compile(
        rf"{_SLASH_COMMENTS}|r?'''.*?'''|r?\"\"\".*?\"\"\"|r'[^'\n]*'|r\"[^\"\n]*\"|{_STRING}|'(?:\\.|[^'\\\n])*'",
        re.DOTALL,
    ),
    "zig": re.compile(rf"//[^\n]*|\\\\[^\n]*|{_STRING}|'(?:\\.|[^'\\\n])*'"),
}

_SWIFT_MODIFIERS = (
    r"(?:(?:@\w+(?:\([^)\n]*\))?|(?:public|private|internal|fileprivate|open|package|static|class|final|override|"
    r"mutating|nonmutating|required|convenience|indirect|dynamic|prefix|postfix|infix|lazy|nonisolated|isolated|"
    r"distributed|optional|weak)(?:\(\w+\))?)\s+)*"
)
_SCALA_MODIFIERS = (
    r"(?:(?:@\w+(?:\([^)\n]*\))?|(?:private|protected)(?:\[\w+\])?|final|sealed|abstract|override|implicit|lazy|"
    r"case|inline|transparent|open|infix|opaque|package)\s+)*"
)
_DART_TYPE = r"(?:[\w$.]+(?:<[^(){};=]*>)?\??|\([^()]*\)\??)\s+"
_DART_HEAD_END = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\s*(?:async\*?|sync\*)?\s*(?:\{|=>|;|:)"
_DART_NO_NAME = (
    r"(?!(?:if|for|while|switch|catch|return|await|assert|super|this|throw|new|const|in|is|do|else|yield)\b)"
)

_HEADS = {
    "swift": [
        re.compile(
            rf"^[ \t]*{_SWIFT_MODIFIERS}(?:func|class(?!\s+(?:func|var|let|subscript)\b)|struct|enum|protocol|"
            r"extension|actor)\s+(?P<name>`\w+`|[\w.]+|[^\s\w(]+)",
            re.MULTILINE,
        ),
        re.compile(
            rf"^[ \t]*{_SWIFT_MODIFIERS}(?P<name>init(?=[?!]?\s*[(<])|deinit(?=\s*\{{)|subscript(?=\s*[(<]))",
            re.MULTILINE,
        ),
    ],
    "scala": [
        re.compile(
            rf"^[ \t]*{_SCALA_MODIFIERS}(?:def|class|trait|object|enum)\s+(?P<name>`[^`\n]+`|\w+_[^\s\w(\[:=]+|\w+|"
            r"[^\s\w(\[]+)",
            re.MULTILINE,
        ),
    ],
    "dart": [
        re.compile(
            r"^(?:(?:abstract|base|final|sealed|interface|mixin)\s+)*(?:class|mixin|enum)\s+(?!class\b)(?P<name>[\w$]+)",
            re.MULTILINE,
        ),
        re.compile(r"^extension\s+(?:type\s+(?:const\s+)?)?(?P<name>(?!on\b)[\w$]+)", re.MULTILINE),
        re.compile(
            rf"^(?:  )?(?:(?:external|static|late)\s+)*(?:{_DART_NO_NAME}{_DART_TYPE})?(?:get|set)\s+(?P<name>[\w$]+)"
            r"(?![\w$])(?!\s*[=,.:<)](?!>))",
            re.MULTILINE,
        ),
        re.compile(
            rf"^(?:  )?(?:(?:external|static|late)\s+)*{_DART_NO_NAME}{_DART_TYPE}{_DART_NO_NAME}(?!(?:get|set|operator)\b)"
            rf"(?P<name>[a-z_][\w$]*)(?:<[^()]*>)?{_DART_HEAD_END}",
            re.MULTILINE,
        ),
        re.compile(
            rf"^  (?:(?:external|const|factory)\s+)*(?P<name>_*[A-Z][\w$]*(?:\.\w+)?){_DART_HEAD_END}",
            re.MULTILINE,
        ),
        re.compile(rf"^  (?:external\s+)?{_DART_TYPE}operator\s*(?P<name>[^\s\w(]+)", re.MULTILINE),
    ],
    "zig": [
        re.compile(
            r"^[ \t]*(?:(?:pub|export|inline|noinline|extern(?:\s+\"[^\"\n]*\")?)\s+)*fn\s+(?P<name>\w+|@\"[^\"\n]*\")",
            re.MULTILINE,
        ),
        re.compile(
            r"^[ \t]*(?:pub\s+)?const\s+(?P<name>\w+|@\"[^\"\n]*\")(?:\s*:\s*type)?\s*=\s*(?:extern\s+|packed\s+)?"
            r"(?:struct|enum|union|opaque)\b[^;\n]*\{",
            re.MULTILINE,
        ),
    ],
}

LANGUAGES = frozenset(_HEADS)


def _blank(match: re.Match[str]) -> str:
    """Spaces for everything but line ends, so that lines keep their numbers."""
    return re.sub(r"[^\n]", " ", match[0])


def _simple(language: str, name: str) -> str:
    """The last part of a dotted name, without quotes."""
    name = name.strip("`")
    if language == "swift" and name[:1].isalpha():
        return name.rpartition(".")[2]
    if language == "dart" and name[:1].isalnum():
        return name.rpartition(".")[2]
    return name


def _is_call(masked: str, match: re.Match[str]) -> bool:
    """Whether what looks like a Dart constructor is called there: it has not the name of the class around it."""
    owner = match["name"].partition(".")[0]
    if not re.match(r"_*[A-Z]", owner) or match[0].lstrip() == match[0]:
        return False
    classes = _HEADS["dart"][0].findall(masked, 0, match.start()) + re.findall(
        r"^extension type (?:const )?([\w$]+)", masked[: match.start()], re.MULTILINE
    )
    return owner not in classes


def definitions(language: str, text: bytes) -> list[tuple[str, int]]:
    """``(name, line)`` of each definition head in ``text``, in order of lines; one of `LANGUAGES`."""
    source = text.decode("utf-8", errors="replace").replace("\r\n", "\n")
    if language == "zig":
        source = re.sub(r'(extern )("[^"\n]*")', lambda m: m[1] + " " * len(m[2]), source)
    masked = _OPAQUE[language].sub(_blank, source)
    found = {
        (_simple(language, match["name"]), masked.count("\n", 0, match.start("name")) + 1)
        for head in _HEADS[language]
        for match in head.finditer(masked)
        if language != "dart" or not _is_call(masked, match)
    }
    return sorted(found, key=lambda pair: (pair[1], pair[0]))
