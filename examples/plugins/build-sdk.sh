#!/bin/sh
# Builds the example plugins in Rust and AssemblyScript: build-sdk.sh [FOLDER].
# Without a folder, the committed files beside the sources and SHA256SUMS are
# replaced. The one in Go is too large to commit: its tests build it.
#
# Needs Debian 12's rustc and libstd-rust-dev-wasm32, and npm's assemblyscript
# 0.28.20 in the folder that NODE_MODULES names. What is not there is left out.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
out=${1:-}
[ -z "$out" ] || out=$(CDPATH= cd -- "$out" && pwd)
cd "$here"
sdk=../../plugins/sdk
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

rustc=${RUSTC:-/usr/bin/rustc}
if [ -x "$rustc" ]; then
	cp -r clarify/clarify.rs "$sdk"/rust/* "$work/"
	"$rustc" --edition 2021 --target wasm32-wasi -C opt-level=s -C lto -C panic=abort -C strip=symbols \
		--remap-path-prefix "$work"=. -o "${out:-clarify}/clarify.wasm" "$work/clarify.rs"
fi

if [ -n "${NODE_MODULES:-}" ]; then
	mkdir "$work/src"
	cp wp-graph/wp-graph.ts "$sdk"/assemblyscript/*.ts "$work/src/"
	(cd "$work" && node "$NODE_MODULES/assemblyscript/bin/asc.js" src/wp-graph.ts --outFile wp-graph.wasm \
		--runtime stub --optimizeLevel 3 --shrinkLevel 1 --exportStart _start --use abort=src/wasi/abort --use console=src/wasi/console)
	cp "$work/wp-graph.wasm" "${out:-wp-graph}/"
fi

[ -n "$out" ] || sha256sum */*.wasm >SHA256SUMS
