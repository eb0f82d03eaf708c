#!/bin/sh
# Builds the engine: build.sh SOURCES [FOLDER]. SOURCES is the folder with the C
# sources of quickjs-ng 0.17.0 (quickjs.c, quickjs.h, ...). Without FOLDER, the
# committed engine and SHA256SUMS are replaced.
#
# The sources come in the Python package of that engine, by its own client:
#
#	pip download --no-deps --no-binary :all: quickjs-ng==0.17.0.2
#	tar xzf quickjs_ng-0.17.0.2.tar.gz
#	sh build.sh quickjs_ng-0.17.0.2/upstream-quickjs
#
# Needs clang 14 with wasm32 support, as Debian 12 has it:
#   apt-get install clang-14 lld-14 wasi-libc libclang-rt-14-dev-wasm32
# The same compiler gives the same bytes wherever the sources lie.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
sources=$(CDPATH= cd -- "${1:?name the folder with quickjs.c}" && pwd)
out=$here
[ -z "${2:-}" ] || out=$(CDPATH= cd -- "$2" && pwd)

# Other sources are another engine.
(cd "$sources" && sha256sum --quiet -c "$here/SOURCES.sha256")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
clang=${CLANG:-clang-14}
flags="--target=wasm32-wasi -std=gnu11 -Oz -DNDEBUG -D_GNU_SOURCE -ffunction-sections -fdata-sections"
for name in quickjs dtoa libregexp libunicode; do
	"$clang" $flags -ffile-prefix-map="$sources"=. -c "$sources/$name.c" -o "$work/$name.o"
done
# Without stack-first and a stated stack, deep recursion would silently overwrite
# constants; the launcher stops a script before it comes that far.
"$clang" $flags -Wall -Wextra -Werror -ffile-prefix-map="$here"=. -isystem "$sources" \
	-Wl,--strip-all -Wl,--gc-sections -Wl,--stack-first -Wl,-z,stack-size=1048576 \
	-o "$out/quickjs.wasm" "$here/launcher.c" \
	"$work/quickjs.o" "$work/dtoa.o" "$work/libregexp.o" "$work/libunicode.o"
chmod 644 "$out/quickjs.wasm"
[ "$out" != "$here" ] || (cd "$here" && sha256sum quickjs.wasm >SHA256SUMS)
