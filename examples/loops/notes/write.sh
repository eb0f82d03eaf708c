#!/bin/sh
# Writes NOTES.md and commits it. It runs in the loop's worktree.
set -eu
{
	echo "# What is in use"
	echo
	sed 's/^/- /' deps.txt
} > NOTES.md
git add NOTES.md
git diff --cached --quiet || git -c user.name="Loop notes" -c user.email=loop@example.org commit --quiet --message "Write NOTES.md"
