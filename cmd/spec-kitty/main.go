// Command spec-kitty takes missions forward one step at a time. It has no rules
// of its own: every command parses its options, calls host/runner and prints
// the answer. With --json it promises exactly one JSON document and a newline
// on stdout, on every path; without, text for people. The exit code follows
// from the outcome in one place, exit.go.
package main

import (
	"os"

	"github.com/spec-kitty/step-runner/host/command"
	"github.com/spec-kitty/step-runner/host/sandbox"
)

// version is set by the linker: -ldflags "-X main.version=v1.2.3".
var version string

func main() {
	sandbox.ChildMain() // a plugin's child process ends here
	command.Main()      // a held command becomes its program here, a watcher waits
	os.Exit(run(process{args: os.Args[1:], in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv}))
}
