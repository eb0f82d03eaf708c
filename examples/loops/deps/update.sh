#!/bin/sh
# Raises the first dependency that is behind, and commits that. It runs in the loop's
# worktree; what is not committed does not count.
set -eu
while read -r name have; do
	newest=$(sed -n "s/^$name //p" available.txt)
	if test "$have" != "$newest"; then
		sed "s/^$name .*/$name $newest/" deps.txt > deps.new
		mv deps.new deps.txt
		git -c user.name="Loop deps" -c user.email=loop@example.org commit --quiet --message "Raise $name to $newest" deps.txt
		echo "raised $name from $have to $newest"
		exit 0
	fi
done < deps.txt
echo "nothing is behind"
