#!/bin/sh
# Installs the peers of the benchmark into .peers/, each with its own package manager.
# Peers that cannot be installed are listed at the end; the benchmark skips them.
set -u
cd "$(dirname "$0")" || exit 1
mkdir -p .peers
missing=""

fetch() { # fetch NAME COMMAND...
    name=$1
    shift
    echo "== $name"
    "$@" >".peers/$name.log" 2>&1 || missing="$missing $name"
}

have_jq() { command -v jq; }

fetch_jaq() {
    test -x .peers/cargo/bin/jaq || cargo install jaq --version 3.1.2 --locked --root .peers/cargo --target-dir .peers/cargo/build
}

fetch_jsonquery() {
    npm install --prefix .peers/npm --no-audit --no-fund @jsonquerylang/jsonquery@5.1.1
}

fetch_python() {
    test -x .peers/python/bin/python || python3 -m venv .peers/python
    .peers/python/bin/python -m pip install --quiet jsonquerylang==2.1.0 duckdb==2.0.0 jq networkx==3.6.1 numpy orjson \
        igraph==1.0.0 polars==2.1.0 pyarrow rustworkx==0.18.1 scipy==1.17.1
}

fetch jq have_jq
fetch jsonquery fetch_jsonquery
fetch python fetch_python
fetch jaq fetch_jaq

if test -n "$missing"; then
    echo "missing:$missing (see .peers/NAME.log; jq is the package jq of Debian)"
else
    echo "all peers are installed"
fi
