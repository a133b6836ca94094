"""One module a language, each with a table for `indexer.chunk.grammar`, and the list of them all.

A row: the language's name -> the module, or ``module:ATTRIBUTE`` where the module has more than one ``TABLE``.
Modules are loaded when the first file of their language comes.
"""

LANGUAGES: dict[str, str] = {
    "bash": "bash",
    "c": "c",
    "cpp": "cpp",
    "csharp": "csharp",
    "dart": "dart",
    "elixir": "elixir",
    "go": "go",
    "haskell": "haskell",
    "java": "java",
    "javascript": "javascript",
    "julia": "julia",
    "kotlin": "kotlin",
    "lua": "lua",
    "ocaml": "ocaml",
    "ocaml-interface": "ocaml:INTERFACE",
    "ocaml-structure": "ocaml:STRUCTURE",
    "perl": "perl",
    "php": "php",
    "r": "r",
    "ruby": "ruby",
    "rust": "rust",
    "scala": "scala",
    "swift": "swift",
    "tsx": "typescript:TSX",
    "typescript": "typescript",
    "zig": "zig",
}
