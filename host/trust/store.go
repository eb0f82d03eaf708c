package trust

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spec-kitty/step-runner/host/internal/own"
	"github.com/spec-kitty/step-runner/host/internal/readonly"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// maxRecord bounds the file of one consent, in bytes.
const maxRecord = 4 << 20

// Options say where consent is recorded, and for which project.
type Options struct {
	Dir     string // "": spec-kitty/trust in the user's configuration folder
	Project string // the project root
	Digest  string // consented to by the environment (SPEC_KITTY_TRUST); "": none

	Disk durable.Disk // what is written goes through it; nil: the operating system's
}

// Store is the consents of one user to one project.
type Store struct {
	dir     string
	dirErr  error // there is no place for records
	project string
	given   string
	disk    durable.Disk
}

// Record is one consent.
type Record struct {
	Format  int             `json:"format"`
	Digest  string          `json:"digest"`
	Project string          `json:"project"` // the root's absolute path, links followed
	At      time.Time       `json:"at"`
	Set     json.RawMessage `json:"set"` // what was consented to, for people
}

// FolderError says that the folder of the records cannot be relied on.
type FolderError struct {
	Dir string
	Why string
}

func (e *FolderError) Error() string {
	return fmt.Sprintf("the folder of consents %s %s: make it yours alone (mode 0700), outside of every project", e.Dir, e.Why)
}

// Open reads nothing yet.
func Open(o Options) *Store {
	s := &Store{dir: o.Dir, project: resolved(o.Project), given: strings.ToLower(strings.TrimSpace(o.Digest)), disk: o.Disk}
	if s.disk == nil {
		s.disk = durable.OS()
	}
	if s.dir == "" {
		var user string
		if user, s.dirErr = os.UserConfigDir(); s.dirErr == nil {
			s.dir = filepath.Join(user, "spec-kitty", "trust")
		}
	}
	return s
}

// resolved is the one name of a folder: links followed where it is there.
func resolved(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// ProperDigest tells whether a text can be a set's digest.
func ProperDigest(text string) bool {
	sum, err := hex.DecodeString(text)
	return err == nil && len(sum) == 32 && text == strings.ToLower(text)
}

// Trusts tells whether the set of this digest was consented to for the project,
// in the environment or in a record. The error says why the records could not be
// looked at; then nothing is trusted.
func (s *Store) Trusts(digest string) (bool, error) {
	if !ProperDigest(digest) {
		return false, nil
	}
	if s.given == digest {
		return true, nil
	}
	if _, err := s.usable(); err != nil {
		return false, err
	}
	r, err := s.read(s.name(digest))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	}
	return r.Digest == digest && r.Project == s.project, nil
}

// Grant records consent to a set. It is durable on return.
func (s *Store) Grant(set []byte, now time.Time) (Record, error) {
	r := Record{Format: format, Digest: Digest(set), Project: s.project, At: now.UTC(), Set: set}
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return r, fmt.Errorf("record the consent: %w", err)
	}
	if s.dirErr != nil {
		return r, s.noPlace()
	}
	if err := durable.MkdirAll(s.disk, s.dir, 0o700); err != nil {
		return r, fmt.Errorf("record the consent: %w", err)
	}
	if _, err := s.usable(); err != nil {
		return r, err
	}
	_ = durable.RemoveDeadTemps(s.disk, s.dir)
	return r, durable.Replace(s.disk, filepath.Join(s.dir, s.name(r.Digest)), append(raw, '\n'), 0o600)
}

// Revoke takes a consent to this project back and tells whether there was one.
// That it is gone is durable on return.
func (s *Store) Revoke(digest string) (bool, error) {
	there, err := s.usable()
	if err != nil || !there {
		return false, err
	}
	err = s.disk.Remove(filepath.Join(s.dir, s.name(digest)))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("take the consent back: %w", err)
	}
	return true, s.disk.SyncDir(s.dir)
}

// List gives the records of this project, the latest first. Files that are no
// records are passed over.
func (s *Store) List() ([]Record, error) {
	there, err := s.usable()
	if err != nil || !there {
		return nil, err
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, fmt.Errorf("read the consents: %w", err)
	}
	var all []Record
	for _, entry := range entries {
		r, err := s.read(entry.Name())
		if err == nil && r.Project == s.project && entry.Name() == s.name(r.Digest) {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b Record) int { return b.At.Compare(a.At) })
	return all, nil
}

// Folder is where the records lie; "" where there is no place for them.
func (s *Store) Folder() string { return s.dir }

// name is the file of a consent: one for each set and project.
func (s *Store) name(digest string) string {
	return Digest([]byte(digest+"\n"+s.project)) + ".json"
}

// usable looks whether the folder is there, and whether it may be relied on:
// whoever else could write to it could consent in our place.
func (s *Store) usable() (there bool, err error) {
	if s.dirErr != nil {
		return false, s.noPlace()
	}
	info, err := os.Lstat(s.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read the consents: %w", err)
	case !info.IsDir():
		return false, &FolderError{s.dir, "is no folder"}
	case !own.Alone(info):
		return false, &FolderError{s.dir, "can be read or written by others"}
	case inside(resolved(s.dir), s.project):
		return false, &FolderError{s.dir, "lies in the project"}
	}
	return true, nil
}

func (s *Store) noPlace() error {
	return fmt.Errorf("there is no place for consents: %w; set HOME, or name the digest in SPEC_KITTY_TRUST", s.dirErr)
}

func inside(dir, project string) bool {
	rel, err := filepath.Rel(project, dir)
	return err == nil && filepath.IsLocal(rel)
}

// read reads a record. Its owner and mode are looked at with it, as a file may
// have come into the folder by other ways than ours.
func (s *Store) read(name string) (Record, error) {
	var r Record
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return r, err
	}
	defer root.Close()
	raw, info, err := readonly.File(root, name, maxRecord)
	if err != nil {
		return r, err
	}
	if !own.Alone(info) {
		return r, &FolderError{filepath.Join(s.dir, name), "can be read or written by others"}
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return r, fmt.Errorf("the consent %s is no record: %w; remove it", filepath.Join(s.dir, name), err)
	}
	return r, nil
}
