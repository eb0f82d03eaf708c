package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"
)

// What one call may hold of the file system at a time.
const (
	maxOpenBytes  = 128 << 20 // content of open files together
	maxDirEntries = 20_000    // names in one folder
	maxFacts      = 10_000

	// maxReadBytes is the content that one call may read in all. The host reads
	// it again under the run's lock, to see that it is still the same, and must
	// not hold the lock for long.
	maxReadBytes = 32 << 20
	maxFactBytes = 1 << 20 // of their paths: a report stays below maxFrame, however they are escaped
	maxPath      = 4096
)

// desk is what the mounts of one call share: how much is open, and the facts
// that the guest learned. It is used by one goroutine.
type desk struct {
	ctx        context.Context
	log        io.Writer // where the host explains a refusal that has no number
	files      int       // may still be opened
	bytes      int64     // may still be held
	unread     int64     // may still be read
	facts      map[Fact]bool
	factBytes  int
	incomplete bool
}

func newDesk(ctx context.Context, files int, log io.Writer) *desk {
	return &desk{ctx: ctx, log: log, files: files, bytes: maxOpenBytes, unread: maxReadBytes, facts: map[Fact]bool{}}
}

// note keeps a fact. One that cannot be kept, or not be written in JSON, makes
// the whole incomplete.
func (d *desk) note(f Fact) {
	if d.facts[f] {
		return
	}
	if len(d.facts) >= maxFacts || d.factBytes+len(f.Path) > maxFactBytes || !utf8.ValidString(f.Path) {
		d.incomplete = true
		return
	}
	d.facts[f] = true
	d.factBytes += len(f.Path)
}

func (d *desk) sorted() []Fact {
	all := make([]Fact, 0, len(d.facts))
	for f := range d.facts {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b Fact) int {
		return strings.Compare(a.Path+"\x00"+string(a.Kind)+a.SHA256, b.Path+"\x00"+string(b.Kind)+b.SHA256)
	})
	return all
}

func (d *desk) explain(format string, args ...any) {
	_, _ = fmt.Fprintf(d.log, "spec-kitty: "+format+"\n", args...)
}

func statFact(path string, info fs.FileInfo) Fact {
	text := "dir"
	if info.Mode().IsRegular() {
		text = fmt.Sprintf("file %d", info.Size())
	} else if info.Mode()&fs.ModeSymlink != 0 {
		text = "link"
	}
	return Fact{path, FactStat, hexSum([]byte(text))}
}

func hexSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
