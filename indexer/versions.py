"""What is said of an index's making and must not cost the loading of what makes it: the tokenizer's version."""

from __future__ import annotations

import Stemmer  # type: ignore[import-not-found]  # compiled, without stubs

TOKENIZER = f"2+snowball-{Stemmer.version()}"
