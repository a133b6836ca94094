"""The projects no model is trained on, by name: `reason(name)` for a package's, `inner_reason(...)` for a folder's.

Four groups: the 63 projects of the retrieval benchmark; the eight Python projects of the function-level test;
the projects of the hand-written paraphrases; those of the function-level tests of other languages. A project is
also known by what it is called elsewhere: its crates, gems and modules, its packages in a distribution, forks that
kept its code, parts of it that are released alone. Where a name is shared by something else that is harmless, both
are left out. What was copied under a name of its own is found by `indexer.train.twins`.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import cache

# Project -> patterns of names, lower case, with "-" for "_", "." and "/"; the project's own name is among them.
BENCHMARK: dict[str, str] = {
    "abseil-cpp": "abseil* absl* libabsl* com-google-absl*",
    "aeson": "aeson*",
    "aiohttp": "aiohttp*",
    "alamofire": "alamofire*",
    "axios": "axios* *-axios redaxios",
    "axum": "axum*",
    "bash-it": "bash-it*",
    "bats-core": "bats bats-*",
    "cats": "cats cats-* typelevel-cats* scalacats",
    "chi": "chi chi-v[0-9] go-chi*",
    "circe": "circe*",
    "click": "click click-* asyncclick rich-click cloup typer typer-*",
    "cobra": "cobra cobra-* spf13-cobra* cobra-cli",
    "commons-lang": "commons-lang* commonslang* org-apache-commons-lang*",
    "curl": "curl curl-* libcurl* tiny-curl curl-sys",
    "dapper": "dapper*",
    "ecto": "ecto ecto-*",
    "exposed": "exposed exposed-* jetbrains-exposed*",
    "express": "express express5 expressjs* express-[0-9]* types-express* router finalhandler",
    "fastapi": "fastapi* *-fastapi",
    "flask": "flask flask-* quart quart-*",
    "fmtlib": "fmt fmt[0-9]* fmtlib* libfmt* fmt-dev spdlog* libspdlog*",
    "gin": "gin gin-* gin-gonic*",
    "gson": "gson* google-gson* com-google-code-gson*",
    "guzzle": "guzzle* *guzzlehttp*",
    "http4s": "http4s*",
    "httpx": "httpx* httpcore* *-httpx",
    "jackson-databind": "jackson* fasterxml-jackson* com-fasterxml*",
    "kotlinx-coroutines": "kotlinx* org-jetbrains-kotlinx*",
    "ktor": "ktor*",
    "laravel-framework": "laravel* illuminate* lumen* tightenco-collect",
    "lazy.nvim": "lazy-nvim* lazynvim",
    "libuv": "libuv* libuv1* uvloop nodejs node luv luvit libluv*",
    "messagepack-csharp": "*messagepack*",
    "mini.nvim": "mini-nvim*",
    "model2vec": "model2vec*",
    "monolog": "monolog*",
    "newtonsoft-json": "*newtonsoft* json-net",
    "nlohmann-json": "nlohmann* json-for-modern* nlohmann-json3* json-hpp",
    "nvm": "nvm nvm-sh* nvm-*",
    "pandoc": "pandoc pandoc-* libghc-pandoc*",
    "phoenix": "phoenix phoenix-* phoenixframework*",
    "plug": "plug plug-*",
    "pydantic": "pydantic*",
    "rack": "rack rack-*",
    "rails": "rails rails-* railties activesupport actionpack activerecord activemodel activejob activestorage"
    " actionview actionmailer actionmailbox actioncable actiontext activeresource actionpack-* activesupport-*"
    " activerecord-* activemodel-* rails[0-9]*",
    "redis": "redis* *-redis *-redis-* ioredis hiredis* libhiredis* valkey* keydb* predis",
    "redux": "redux* *-redux reduxjs*",
    "requests": "requests requests-* requests2 grequests *-requests",
    "serde": "serde*",
    "sinatra": "sinatra*",
    "snapkit": "snapkit*",
    "starlette": "starlette*",
    "telescope.nvim": "telescope-nvim* telescope-*",
    "tokio": "tokio* async-tokio",
    "trpc": "trpc*",
    "vapor": "vapor vapor-*",
    "vitest": "vitest* vite-node",
    "xmonad": "xmonad*",
    "zig": "zig zig[0-9]* zig-bootstrap ziglang*",
    "zig-clap": "zig-clap* clap-zig",
    "zls": "zls",
    "zod": "zod zod-* *-zod",
}
PYTHON_FUNCTIONS: dict[str, str] = {
    "click": "click",
    "django": "django django[0-9]* django-stubs*",
    "flask": "flask",
    "httpx": "httpx",
    "networkx": "networkx* nx-*",
    "requests": "requests",
    "rich": "rich rich-*",
    "sqlalchemy": "sqlalchemy* sqlalchemy-*",
    "pip": "pip pip-*",  # carries requests and rich inside
}
PARAPHRASES: dict[str, str] = {
    "scrapy": "scrapy scrapy-*",
    "trio": "trio trio-*",
    "attrs": "attrs attr attrs-*",
    "gorilla-websocket": "gorilla-websocket*",
    "ws": "ws isomorphic-ws types-ws",
}
# Of tests/benchmarks/functions.toml; a test there says that none is missing here.
FUNCTIONS: dict[str, str] = {
    "eslint": "eslint eslint-* @eslint-*",
    "ramda": "ramda ramda-* types-ramda rambda",
    "openlayers": "ol openlayers*",
    "winston": "winston winston-* logform triple-beam",
    "mobx": "mobx mobx-*",
    "noble-curves": "noble-curves",
    "rxjs": "rxjs rxjs-* reactivex-rxjs",
    "deck.gl": "deck-gl* luma-gl* loaders-gl*",
    "afero": "afero spf13-afero",
    "go-git": "go-git go-git-* *src-d-go-git*",
    "miekg-dns": "dns miekg-dns",
    "prometheus-client-golang": "client-golang prometheus-client-golang",
    "zap": "zap uber-zap uber-go-zap go-uber-zap go-uber-org-zap",
    "commons-collections": "commons-collections*",
    "httpcomponents-core": "httpcore* httpcomponents-core* httpcore5*",
    "joda-time": "joda-time* joda",
    "jsoup": "jsoup*",
    "chrono": "chrono chrono-tz",
    "indexmap": "indexmap",
    "itertools": "itertools",
    "rayon": "rayon rayon-core",
    "rust-regex": "regex regex-automata regex-syntax rust-regex*",
    "subversion": "subversion* libsvn*",
    "libxkbcommon": "libxkbcommon* xkbcommon*",
    "nghttp2": "nghttp2* libnghttp2*",
    "pcre2": "pcre2* libpcre2* pcre libpcre*",
    "wayland": "wayland libwayland*",
    "assimp": "assimp* libassimp* pyassimp",
    "box2d": "box2d* libbox2d* pybox2d",
    "leveldb": "leveldb* libleveldb* plyvel rocksdb* leveldown classic-level",
    "rapidjson": "rapidjson* python-rapidjson",
    "re2": "re2 libre2* google-re2",
    "yaml-cpp": "yaml-cpp* libyaml-cpp*",
    "dbus-sharp": "dbus-sharp* ndesk-dbus*",
    "dnlib": "dnlib* libdnlib*",
    "nunit": "nunit* *-nunit",
    "unirx": "*unirx*",
    "haml": "haml haml-*",
    "mail": "mail",
    "sequel": "sequel sequel-*",
    "doctrine": "doctrine doctrine-orm doctrine-dbal doctrine-orm-* doctrine-dbal-*",
    "phpseclib": "phpseclib*",
    "twig": "twig twig-*",
}
GROUPS = {
    "benchmark": BENCHMARK,
    "python-functions": PYTHON_FUNCTIONS,
    "paraphrases": PARAPHRASES,
    "functions": FUNCTIONS,
}
# What registries and distributions put around a project's own name.
_AROUND = re.compile(
    r"^(?:golang-(?:github|gopkg|go|google|golang|gitlab|k8s)?-?|librust-|lib(?=.*-java$)|ruby-|php-|python3?-|node-"
    r"|rust-|haskell-|libghc-|erlang-|elixir-|lua-|com-|org-|io-)"
)
_BEHIND = re.compile(
    r"(?:\+.*|-\d[\d.]*-dev|-dev|-java|-perl|-cil|-src|-source|-js|-py|-rs|-go|-php|-rb|-v\d+|[\d.]+)$"
)
# Folders that hold one of the projects inside another package; a folder `fmt` in Go is Go's own.
_INNER: dict[str, str] = {
    "python": "requests rich click httpx httpcore pydantic starlette flask networkx sqlalchemy attr",
    "cpp": "absl fmt nlohmann rapidjson re2 leveldb yaml-cpp rocksdb assimp",
    "c": "curl libcurl libuv uv hiredis redis pcre pcre2 nghttp2 xkbcommon",
    "java": "gson jackson jsoup joda",
    "javascript": "axios express redux zod vitest rxjs ramda",
    "php": "illuminate guzzlehttp monolog twig phpseclib laravel",
    "csharp": "newtonsoft.json newtonsoft dapper messagepack nunit unirx",
    "ruby": "rack sinatra activesupport active_support action_dispatch sequel haml",
}
_AS = {"typescript": "javascript", "tsx": "javascript", "c": "cpp", "cpp": "c"}


@cache
def reason(name: str) -> str:
    """The project, with its group, that a package of this name is or may be a part of; "" for none.

    ``name`` is as its registry writes it (`@scope/name`, `golang-github-spf13-cobra-dev`, `Owner/Repo`).
    """
    names = _spellings(name)
    for group, projects in GROUPS.items():
        for project, patterns in projects.items():
            if any(fnmatchcase(one, pattern) for one in names for pattern in patterns.split()):
                return f"{project} ({group})"
    return ""


def inner_reason(language: str, path: str) -> str:
    """The project that a folder on the way to a file may be a copy of; "" for none. ``path``: inside its package."""
    wanted = {*_INNER.get(language, "").split(), *_INNER.get(_AS.get(language, ""), "").split()}
    return next((part for part in path.lower().split("/")[:-1] if part in wanted), "")


def _spellings(name: str) -> set[str]:
    """A name without what its registry puts around it, in each stage of undressing."""
    plain = re.sub(r"[_./@: ]+", "-", name.lower()).strip("-")
    names = {plain}
    if "/" in name or ":" in name:
        names |= {re.sub(r"[_.]+", "-", part.lower().lstrip("@")) for part in re.split("[/:]", name)}
    for _ in range(3):
        names |= {_AROUND.sub("", one) for one in names}
        names |= {_BEHIND.sub("", one) for one in names}
    # golang-github-OWNER-NAME-dev: the project's name may stand behind its owner's.
    if plain.startswith(("golang-github-", "golang-gopkg-")):
        names |= {one.split("-", 1)[1] for one in names if "-" in one}
    return {one for one in names if one}
