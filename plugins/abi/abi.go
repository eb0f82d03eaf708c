// Package abi is version 1 of the contract between the step runner and its
// plugins, as Go values: the request that a plugin reads on stdin and the
// answers that it writes on stdout. It promises that a value which one of the
// Decode functions returns has been checked as a whole (one JSON value, no
// unknown or doubled keys, sizes, counts, names, paths), so that the host can
// use any part of it, and that every violation is told in a sentence which the
// plugin's author can act on. It knows nothing of the host; authors may import
// it. All functions may be called concurrently; values are not shared.
package abi

// Version is the major version of the contract. Within it only fields are
// added; what is published never changes its meaning.
const Version = 1

// The verbs, the last argument of every call.
const (
	Describe = "describe" // no request, no files: say who you are
	Guard    = "guard"    // may this step be completed?
	Execute  = "execute"  // do the step's own work and return its outcome as data
)

// Where a plugin finds files. All paths in requests and answers that begin
// with a slash lie below one of these.
const (
	ProjectDir   = "/project"   // the project's root, always the first folder
	WorkspaceDir = "/workspace" // the package's work tree, where there is one
	PluginDir    = "/plugin"    // the plugin's own folder
)

// What an answer may hold. Sizes are bytes of UTF-8.
const (
	MaxAnswer    = 4 << 20   // the whole answer; the configuration may set less
	MaxDepth     = 64        // lists and objects inside each other
	MaxValues    = 20_000    // values in all, lists and objects among them
	MaxText      = 4 << 10   // a message, fix, note, question, option or name
	MaxPrompt    = 256 << 10 // the prompt
	MaxValue     = 64 << 10  // one input's value
	MaxItems     = 100       // reasons, inputs, notes, options, needs, artifacts: each
	MaxArtifacts = 1 << 20   // the content of all artifacts together
	MaxName      = 100       // names and keys
	MaxPath      = 1000      // paths
)
