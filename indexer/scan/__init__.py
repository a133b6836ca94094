"""Scan: what is in the tree, without opening a file; and reading one so that its stat, bytes and hash agree.

`indexer.scan.ignore` is the one predicate of what is in; `walk` asks it for everything, a watcher for single paths.
`diff` holds a scan against what the index knows. `read` reads a suspect, `content` says whether there is text in it.
"""
