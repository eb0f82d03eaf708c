package guard

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spec-kitty/step-runner/host/internal/readonly"
)

// Facts are named by kind and path.
const (
	artifactPrefix = "artifact:"
	listingPrefix  = "listing:"
	eventPrefix    = "event:"
)

// UnknownFactError says that a fact has a name of another program's.
type UnknownFactError struct{ Name string }

func (e *UnknownFactError) Error() string {
	return fmt.Sprintf("fact %q is not one of a guard's", e.Name)
}

// Digest reads one fact of the mission's folder dir again, as it lies on disk now:
// it equals the digest in Fact exactly if nothing changed that the guard saw. It
// runs no foreign code and may be called under a lock. What could not be read is
// a digest of its own, not an error; the error is an *UnknownFactError, or that
// the folder cannot be opened.
func Digest(dir, name string) (string, error) {
	file, isFile := strings.CutPrefix(name, artifactPrefix)
	pattern, isListing := strings.CutPrefix(name, listingPrefix)
	kind, isEvent := strings.CutPrefix(name, eventPrefix)
	if !isFile && !isListing && !isEvent {
		return "", &UnknownFactError{Name: name}
	}
	folder := Folder{Dir: dir}
	root, err := folder.open()
	if err != nil {
		return "", fmt.Errorf("read the fact %s again: %w", name, err)
	}
	if root != nil {
		defer root.Close()
	}
	switch {
	case isEvent:
		_, digest, _ := countEvents(folder, root, kind)
		return digest, nil
	case isListing:
		return listingDigest(onDisk(root, pattern)), nil
	}
	return digestOf(folder.read(root, file)), nil
}

// digestOf is the digest of a file's bytes, or the name of why there are none.
func digestOf(data []byte, err error) string {
	var large *readonly.TooLargeError
	switch {
	case err == nil:
		return hash(data)
	case errors.Is(err, fs.ErrNotExist):
		return "missing"
	case errors.As(err, &large):
		return "too large"
	}
	return "unreadable: " + err.Error()
}

// listingDigest is the digest of the names on disk that fit a pattern. Staged
// files are no facts: they come with the report.
func listingDigest(names []string, err error) string {
	if err != nil {
		return "unreadable: " + err.Error()
	}
	return hash([]byte(strings.Join(names, "\x00")))
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
