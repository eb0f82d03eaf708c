//go:build !linux

package main

import "runtime"

// fileSystem names the kind of disk as far as it is known here.
func fileSystem(string) string { return "the disk of " + runtime.GOOS }

// flush does nothing: the first rounds pay for what making the projects left.
func flush() {}
