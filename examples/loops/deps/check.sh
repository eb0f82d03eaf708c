#!/bin/sh
# Is the result good? It runs on a clean checkout of it: each line is a name and a
# version, and no dependency was lost.
set -eu
if grep --invert-match '^[a-z][a-z]* [0-9][0-9]*\.[0-9][0-9]*\.[0-9][0-9]*$' deps.txt; then
	echo "these lines are no name and version"
	exit 1
fi
test "$(wc -l < deps.txt)" -eq "$(wc -l < available.txt)"
