// Package sandbox runs plugins: WebAssembly command modules that nobody has to
// trust. It promises that a guest reads what the call grants and nothing else,
// changes nothing, and ends within its limits, whatever its bytes are: it is
// compiled and run in a child process of this same program, which the parent
// kills at the deadline by its own clock (the outer wall), inside wazero with
// our own files, clock, memory and writers (the inner wall). How a call ended is
// judged by the parent's clock and the child's end, never by what a guest says.
//
// The package takes no lock and writes nothing but its compilation cache. A
// program that uses it calls ChildMain first thing in main.
package sandbox

import (
	"time"
)

// Limits bound one plugin's calls. A zero field takes its default.
type Limits struct {
	Memory      int64         // bytes of guest memory; 64 MiB; from 4 MiB to 2 GiB
	Timeout     time.Duration // one call, loading from the cache included; 10 s
	CompileTime time.Duration // one compilation; 60 s
	Output      int64         // bytes on stdout; 1 MiB
	Log         int64         // bytes on stderr; 256 KiB
	Files       int           // files and folders open at a time; 64
}

// Plugin is what runs: the bytes, and what the configuration says about them.
// Exactly one of Wasm and Path is set; what is hashed is what is compiled.
type Plugin struct {
	Name   string            // argv[0], and the name in messages
	Wasm   []byte            // the module itself
	Path   string            // or a file that the child reads
	SHA256 string            // 64 hex digits; required
	Args   []string          // configured arguments, before the verb
	Env    map[string]string // the guest's whole environment
	Bundle []byte            // the plugin's own folder, packed, which it sees at /plugin; nil: none
	Limits Limits
}

// Mount shows a host folder to the guest, read-only. The first is /project.
type Mount struct {
	Guest string `json:"guest"` // absolute, such as /project
	Host  string `json:"host"`  // absolute path of a folder

	// Below is a folder in Host, with slashes, that is shown in its place; "" is
	// Host itself. No link may lead to it: a call whose Below is behind one fails.
	Below string `json:"below,omitempty"`

	// Staged are files that lie over the folder, by their names in it with
	// slashes. They are seen where the grants reach, and are no facts.
	Staged map[string][]byte `json:"staged,omitempty"`
}

// Call is one call of a plugin.
type Call struct {
	Verb    string
	Request []byte   // stdin, at most 1 MiB
	Mounts  []Mount  // folders the guest can name; without Reads they are empty
	Reads   []string // granted guest paths at or below the mounts, such as /project/docs; nothing else is visible
	Hide    []string // guest paths that stay hidden also inside a grant (the state folder); .git always is
	Now     time.Time
	Seed    [32]byte // of the random source; the same seed gives the same bytes
}

// Answer is a call's answer: the guest ended with exit 0 and within its limits.
// What Stdout says is still to be checked, by plugins/abi.
type Answer struct {
	Stdout      []byte
	Log         []byte // stderr as it came, at most Limits.Log
	Read        []Fact // what the guest saw of the files, sorted
	Incomplete  bool   // more facts than are kept: the answer cannot be fenced by them
	Elapsed     time.Duration
	Interpreted bool // no cache entry existed: the answer came from the interpreter
}

// FactKind says what a guest learned.
type FactKind string

// The kinds of facts.
const (
	FactFile   FactKind = "file"   // the content of a file
	FactDir    FactKind = "dir"    // the names in a folder
	FactLink   FactKind = "link"   // what a link says
	FactStat   FactKind = "stat"   // kind and size of a file, or that a folder is there
	FactAbsent FactKind = "absent" // that nothing is there
)

// Fact is one thing that a guest saw below its mounts.
type Fact struct {
	Path   string   `json:"path"` // guest path
	Kind   FactKind `json:"kind"`
	SHA256 string   `json:"sha256,omitempty"` // 64 hex digits; none for absent
}
