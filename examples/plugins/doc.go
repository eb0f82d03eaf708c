// Package plugins holds the example plugins: spec-lint, a guard, and scaffold,
// an executor, both in C and committed as WebAssembly beside their sources. It
// has no Go code of its own; its tests promise that the committed bytes are
// what build.sh makes of the sources, that each is small, and that each
// answers as its test data says.
package plugins
