#!/bin/sh
# Builds the example plugins: build.sh [FOLDER]. Without a folder, the committed
# files beside the sources and SHA256SUMS are replaced.
#
# Needs clang 14 with wasm32 support, as Debian 12 has it:
#   apt-get install clang-14 lld-14 llvm-14 wasi-libc libclang-rt-14-dev-wasm32
# The same compiler gives the same bytes wherever the sources lie: names are
# stripped, and no path gets into the file.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
out=${1:-}
[ -z "$out" ] || out=$(CDPATH= cd -- "$out" && pwd)
cd "$here"

for name in changelog scaffold spec-lint test-gate; do
	# Without stack-first and a stated stack, a large local buffer would
	# silently overwrite constants.
	"${CLANG:-clang-14}" --target=wasm32-wasi -std=gnu11 -Os \
		-Wall -Wextra -Werror -ffile-prefix-map="$here"=. \
		-Wl,--strip-all -Wl,--stack-first -Wl,-z,stack-size=262144 \
		-o "${out:-$name}/$name.wasm" "$name/$name.c"
done

[ -n "$out" ] || sha256sum */*.wasm >SHA256SUMS
