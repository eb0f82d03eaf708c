#!/bin/sh
# Are the notes there, and are they those of deps.txt?
test "$(sed -n 's/^- //p' NOTES.md)" = "$(cat deps.txt)"
