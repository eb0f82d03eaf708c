// Package archive is one run in one file: a tar archive with a manifest, the
// journal and the files that the run froze. It promises that what Read gives is
// byte for byte what Write was given, or an error that names what is wrong; it
// does not judge the journal. Two archives of one run at one revision are the
// same bytes. All functions may be called concurrently.
package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Format is the version of the file format that Write writes.
const Format = 1

// The names in the archive. Frozen files follow under the prefix.
const (
	manifestName = "run.json"
	journalName  = "run.events.jsonl"
	frozenPrefix = "frozen/"
)

// Limits of what Read takes, in bytes.
const (
	MaxSize     = 1 << 30 // of all files together
	maxManifest = 1 << 20
)

// Run is one run as it is carried.
type Run struct {
	ID       string
	Mission  string // the slug
	Type     string
	Revision uint64 // of its last record
	Digest   string // of its last record
	Journal  []byte
	Frozen   map[string][]byte // by name, with "/" between folders
}

// manifest is run.json. The other files follow in its order.
type manifest struct {
	Format   int    `json:"format"`
	Run      string `json:"run"`
	Mission  string `json:"mission"`
	Type     string `json:"type"`
	Revision uint64 `json:"revision"`
	Digest   string `json:"digest"`
	Files    []file `json:"files"`
}

type file struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Error says what is wrong with an archive.
type Error struct{ Why string }

func (e *Error) Error() string { return "this is no whole archive of a run: " + e.Why }

func wrong(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// NewerError says that a newer version wrote the archive.
type NewerError struct{ Format int }

func (e *NewerError) Error() string {
	return fmt.Sprintf("the archive has format %d, this version reads up to %d", e.Format, Format)
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
