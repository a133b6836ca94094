r"""What is a comment or a string in a language, and what a call looks like: enough to tell a call from a mention.

These are regular expressions over a chunk's bytes and no grammar: each is linear, none can crash or hang, and reading
a few thousand chunks takes tenths of a second. What they do not know: nested block comments, here-documents, regular
expressions as literals outside JavaScript, macros that are no calls.
"""

from __future__ import annotations

from typing import NamedTuple

_SLASHES = rb"//[^\n\r]*|/\*(?s:.)*?(?:\*/|\Z)"
_HASH = rb"#[^\n\r]*"
_DASHES = rb"--[^\n\r]*"
_TRIPLE = rb'"""(?:[^\\]|\\(?s:.))*?"""'
_TRIPLE_SINGLE = rb"'''(?:[^\\]|\\(?s:.))*?'''"
_LINE = rb'"(?:[^"\\\n\r]|\\(?s:.))*+"'
_LINE_SINGLE = rb"'(?:[^'\\\n\r]|\\(?s:.))*+'"
_LONG = rb'"(?:[^"\\]|\\(?s:.))*+"'
_LONG_SINGLE = rb"'(?:[^'\\]|\\(?s:.))*+'"
_TICKS = rb"`(?:[^`\\]|\\(?s:.))*+`"
_CHARACTER = rb"'(?:\\[^\n\r]{1,10}?|[^'\\\x80-\xff]|[\xc2-\xf4][\x80-\xbf]{1,3})'"
_JS_REGEX = rb"[=(,:\[!&|?{};][ \t]*/(?![/*])(?:[^/\\\n\r\[]|\\.|\[(?:[^\]\\\n\r]|\\.)*+\])++/"
_BRACES, _DOLLAR_BRACES, _HASH_BRACES = rb"\{([^{}]*)\}", rb"\$\{([^{}]*)\}", rb"#\{([^{}]*)\}"
_IN_PARENTHESES = rb"\(([^()]*(?:\([^()]*\)[^()]*)*)\)"

# The shapes of what follows a name that is called.
_PARENTHESIS = rb"[ \t]*\("
_TYPED = rb"(?:(?:::)?<[^<>()\n;]{0,100}(?:<[^<>()\n;]{0,60}>[^<>()\n;]{0,60})*>)?[ \t]*\("
# An argument without parentheses, and words that are none.
_APPLIED = (
    rb"[ \t]+(?=[\w\x80-\xff:\"'@\[{$%&\\(]|->)"
    rb"(?!(?:if|unless|while|until|and|or|do|then|else|of|in|with|where|rescue|is|not|as|end)\b)|[ \t]*\("
)
# Where a statement or an expression may begin.
_STATEMENT = (
    rb"(?:(?m:^)|[;=({\[,|&!<>~?:]|\b(?:return|if|elsif|unless|while|until|and|or|not|then|do|else|in|when|yield|raise"
    rb"|begin|end|of|with|let|try|match)\b)[ \t]*"
)
_COMMAND = (
    rb"(?:(?m:^)|[;&|({!`]|\b(?:then|do|else|elif|if|while|until|exec|sudo|command|time|eval|xargs|builtin|env|nohup)\b)"
    rb"[ \t]*(?:\w+=\S*[ \t]+)*"
)


class Lexis(NamedTuple):
    """What to skip, the code inside strings (``hole``: of all strings, or of those with a ``prefix``), and calls.

    ``call`` is a pattern in which NAME stands for the name. ``typed``: a word before a name with parentheses makes it a
    declaration. ``blocks``: so does a ``{`` behind them. Behind one of ``sigils`` the name is another one.
    ``heads``: behind another word the name is an argument.
    """

    skip: bytes
    hole: bytes = b""
    prefix: bytes = b""
    call: bytes = b"NAME" + _PARENTHESIS
    typed: bool = False
    blocks: bool = False
    heads: bool = False
    sigils: bytes = rb"$@"
    ignore_case: bool = False


def _any(*patterns: bytes) -> bytes:
    return b"|".join(patterns)


_SCRIPT = Lexis(
    _any(_SLASHES, _JS_REGEX, _LINE, _LINE_SINGLE, _TICKS),
    _DOLLAR_BRACES,
    call=rb"NAME(?:(?:\?\.)?(?:<[^<>()\n;]{0,100}>)?[ \t]*\(|`)",
    blocks=True,
    sigils=rb"$",
)
_TYPED_CALL = rb"NAME" + _TYPED
_BLOCK_CALL = rb"|(?:(?<=[.=(,{}\n;])|(?<=[.=(,{};][ \t])|(?m:^)[ \t]+)NAME[ \t]*\{"
LEXIS = {
    "python": Lexis(_any(_HASH, _TRIPLE, _TRIPLE_SINGLE, _LINE, _LINE_SINGLE), _BRACES, b"fF", sigils=rb"$"),
    "javascript": _SCRIPT,
    "typescript": _SCRIPT,
    "tsx": _SCRIPT,
    "go": Lexis(
        _any(_SLASHES, _LINE, rb"`[^`]*+`", _CHARACTER), call=rb"NAME(?:\[[^\[\]\n]{0,80}\])?[ \t]*\("
    ),
    "rust": Lexis(
        _any(_SLASHES, rb'\br(?P<raw>#+)"(?s:.)*?"(?P=raw)', rb'\br"[^"]*+"', _LONG, _CHARACTER),
        call=rb"NAME(?:" + _TYPED + rb"|![ \t]*[(\[{])",
    ),
    "java": Lexis(_any(_SLASHES, _TRIPLE, _LINE, _CHARACTER), call=_TYPED_CALL, typed=True, blocks=True),
    "c": Lexis(_any(_SLASHES, _LINE, _CHARACTER), typed=True),
    "cpp": Lexis(
        _any(_SLASHES, rb'R"(?P<raw>[^()\\\s]{0,16})\((?s:.)*?\)(?P=raw)"', _LINE, _CHARACTER),
        call=_TYPED_CALL,
        typed=True,
    ),
    "csharp": Lexis(
        _any(_SLASHES, rb'@\$?"(?:[^"]|"")*+"', _TRIPLE, _LINE, _CHARACTER),
        _BRACES,
        b"$",
        call=_TYPED_CALL,
        typed=True,
        blocks=True,
    ),
    "ruby": Lexis(
        _any(rb"(?m:^=begin)(?s:.)*?(?:(?m:^=end)|\Z)", _HASH, _LONG, _LONG_SINGLE),
        _HASH_BRACES,
        call=rb"(?<=\.)NAME(?![!?])(?![ \t]*=[^=~])|"
        + _STATEMENT
        + rb"NAME(?![!?])(?:"
        + _APPLIED
        + rb"|[ \t]*(?=[\n\r.;{}]|\Z|do\b))|NAME\(",
    ),
    "php": Lexis(_any(_SLASHES, rb"#(?!\[)[^\n\r]*", _LONG, _LONG_SINGLE), ignore_case=True),
    "swift": Lexis(
        _any(_SLASHES, _TRIPLE, _LINE),
        rb"\\" + _IN_PARENTHESES,
        call=rb"NAME(?:<[^<>()\n;]{0,100}>)?[ \t]*\(",
    ),
    "kotlin": Lexis(
        _any(_SLASHES, _TRIPLE, _LINE, _CHARACTER), _DOLLAR_BRACES, call=_TYPED_CALL + _BLOCK_CALL
    ),
    "scala": Lexis(
        _any(_SLASHES, _TRIPLE, _LINE, _CHARACTER),
        _DOLLAR_BRACES,
        call=rb"NAME(?:\[[^\[\]\n]{0,80}\])?[ \t]*\(" + _BLOCK_CALL,
    ),
    "dart": Lexis(
        _any(_SLASHES, _TRIPLE, _TRIPLE_SINGLE, _LINE, _LINE_SINGLE),
        _DOLLAR_BRACES,
        call=_TYPED_CALL,
        typed=True,
        blocks=True,
    ),
    "lua": Lexis(
        _any(rb"(?:--)?\[\[(?s:.)*?(?:\]\]|\Z)", _DASHES, _LINE, _LINE_SINGLE),
        call=rb"NAME[ \t]*(?:[({\"']|\[\[)",
    ),
    "bash": Lexis(
        _any(rb"(?<![^\s;(])#[^\n\r]*", _LONG, _LONG_SINGLE),
        rb"\$" + _IN_PARENTHESES,
        call=_COMMAND + rb"NAME(?![.=-])(?![ \t]*\()",
    ),
    "elixir": Lexis(
        _any(_HASH, _TRIPLE, _LONG, _LINE_SINGLE),
        _HASH_BRACES,
        call=rb"(?:(?<=\.)|" + _STATEMENT + rb")NAME(?![!?])(?:" + _APPLIED + rb")|NAME\(",
    ),
    "haskell": Lexis(
        _any(rb"\{-(?s:.)*?(?:-\}|\Z)", rb"--(?![!#$%&*+./<=>?@\\^|~:])[^\n\r]*", _LINE, _CHARACTER),
        call=rb"(?<![\n\r])NAME[ \t]+(?=[\w\x80-\xff\"'(\[$\\])(?!(?:of|then|else|in|where|do)\b)",
        heads=True,
    ),
    "zig": Lexis(_any(rb"//[^\n\r]*|\\\\[^\n\r]*", _LINE, _CHARACTER)),
    "sql": Lexis(
        _any(_DASHES, rb"/\*(?s:.)*?(?:\*/|\Z)", rb"'(?:[^']|'')*+'"),
        call=rb"NAME[ \t]*\(|\b(?:exec|execute|call)[ \t]+NAME",
        ignore_case=True,
    ),
    "perl": Lexis(
        _any(rb"(?m:^=[a-z]\w*)(?s:.)*?(?:(?m:^=cut)|\Z)", rb"(?<!\$)#[^\n\r]*", _LONG, _LONG_SINGLE),
        call=rb"(?<=->)NAME|(?<=&)NAME|" + _STATEMENT + rb"NAME(?:" + _APPLIED + rb")|NAME[ \t]*\(",
        sigils=rb"$@%",
    ),
    "r": Lexis(_any(_HASH, _LONG, _LONG_SINGLE)),
    "julia": Lexis(
        _any(rb"#=(?s:.)*?(?:=#|\Z)", _HASH, _TRIPLE, _LONG, _CHARACTER),
        rb"\$" + _IN_PARENTHESES,
        call=rb"NAME(?:\{[^{}\n]{0,80}\})?\.?\(|(?<=@)NAME",
        sigils=rb"$",
    ),
    "ocaml": Lexis(
        _any(rb"\(\*(?s:.)*?(?:\*\)|\Z)", _LONG, _CHARACTER),
        call=rb"NAME[ \t]+(?=[\w\x80-\xff\"'(\[!~?`{])"
        rb"(?!(?:in|then|else|with|of|and|do|done|when|as|to|mod|lor|land)\b)",
        heads=True,
    ),
}
