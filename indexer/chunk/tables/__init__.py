"""One module a language, each with a table for `indexer.chunk.grammar`, and the list of them all.

A row: the language's name -> the module, or ``module:ATTRIBUTE`` where the module has more than one ``TABLE``.
Modules are loaded when the first file of their language comes.
"""

LANGUAGES: dict[str, str] = {
    "bash": "bash",
    "go": "go",
    "kotlin": "kotlin",
    "lua": "lua",
    "php": "php",
    "ruby": "ruby",
    "scala": "scala",
    "swift": "swift",
}
