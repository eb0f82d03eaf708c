#!/bin/sh
# Is anything behind on the loop's branch? It runs in the project's folder, where
# another branch is checked out.
at=loop/deps
git rev-parse --quiet --verify "$at^{commit}" >/dev/null || at=HEAD
have=$(git show "$at:deps.txt") || exit 2
test "$have" != "$(cat available.txt)" # 0 open, 1 closed
