package cursor

// Call is one call of foreign code that a report relied on: evidence that it was
// made, and what is needed to make it again. Digests are SHA-256 in hexadecimal;
// the bytes behind Request and Files are views in the run's folder, by digest.
type Call struct {
	Kind   CallKind `json:"kind"`
	Name   string   `json:"name"`
	SHA256 string   `json:"sha256"`               // of the plugin's bytes; of the frozen set that declares the command
	Dir    string   `json:"dir_sha256,omitempty"` // of the plugin's own folder, where it has one
	Verb   string   `json:"verb,omitempty"`
	Round  int      `json:"round"` // from 1; a plugin that needs commands is called again

	// Of a plugin.
	Request string `json:"request,omitempty"` // digest of what it read on stdin
	Answer  string `json:"answer,omitempty"`  // digest of what it wrote to stdout
	Files   string `json:"files,omitempty"`   // digest of the list of what it saw of files; none: it saw none

	Command *CommandRun `json:"command,omitempty"`
}

// CallKind says what was called.
type CallKind string

// The kinds of calls.
const (
	CallPlugin  CallKind = "plugin"
	CallCommand CallKind = "command"
)

// CommandRun is how a command ended. What it saw of the world is not fenced: no
// digest says that it would end so again.
type CommandRun struct {
	End    string `json:"end"`
	Exit   int    `json:"exit"` // -1 where it did not exit by itself
	Signal string `json:"signal,omitempty"`
	Millis int64  `json:"millis"`
	Stdout Output `json:"stdout,omitzero"`
	Stderr Output `json:"stderr,omitzero"`
}

// Output is what was written to one stream.
type Output struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`         // of all of it
	Tail   string `json:"tail,omitempty"` // the end, at most MaxTail bytes
}

// MaxTail is how much of a stream's end is kept, in bytes.
const MaxTail = 1 << 10
