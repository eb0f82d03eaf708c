#!/bin/sh
# Is the loop finished with this result?
cmp -s deps.txt available.txt
