#!/bin/sh
# Builds the probes of all languages but Go, and SHA256SUMS. Needs Debian 12's
# clang-14, wasi-libc, libclang-rt-14-dev-wasm32, rustc and libstd-rust-dev-wasm32,
# and npm's assemblyscript 0.28.20 in the folder NODE_MODULES.
set -eu
cd "$(dirname "$0")"
"${CLANG:-clang-14}" --target=wasm32-wasi -std=gnu11 -Os -Wall -Wextra \
	-Wl,--strip-all -Wl,--stack-first -Wl,-z,stack-size=262144 -o probe-c.wasm probe.c
"${RUSTC:-/usr/bin/rustc}" --edition 2021 --target wasm32-wasi \
	-C opt-level=s -C lto -C panic=abort -C strip=symbols -o probe-rust.wasm probe.rs

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp probe.ts "$work/"
cp -r ../../../../plugins/sdk/assemblyscript "$work/sdk"
ln -s "$NODE_MODULES" "$work/node_modules"
(cd "$work" && node node_modules/assemblyscript/bin/asc.js probe.ts --outFile probe.wasm \
	-Os --runtime stub --exportStart _start --use abort=sdk/wasi/abort)
cp "$work/probe.wasm" probe-assemblyscript.wasm
sha256sum probe-*.wasm >SHA256SUMS
