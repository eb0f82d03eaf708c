// Package examples holds missions that run: software-dev, in seven steps, with
// the mission folder kitty-specs/001-hello-cli, on the configuration at the
// repository's root; hello, the smallest project there is; and loops, two loops
// that go from create to done. It has no Go code of its own; its tests promise
// that each loads, that every prompt comes out, and that the guards allow what the
// prompts ask for.
package examples
