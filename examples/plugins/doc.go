// Package plugins holds the example plugins: changelog, scaffold, spec-lint and
// test-gate in C, clarify in Rust, wp-graph in AssemblyScript, links in Go, trace in
// JavaScript. All but the last two are committed as WebAssembly beside their sources;
// trace is a script, which the engine of plugins/engines runs. It has no Go code of its own; its tests
// promise that the committed bytes are what the build scripts make of the sources,
// that each is small, that each answers as its test data says, and the same
// however often it is asked.
package plugins
