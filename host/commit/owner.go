package commit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/spec-kitty/step-runner/kernel/durable"
)

// ownerName is the file in the root that says whose state it is. It is there only
// where somebody owns the root: see Options.Owner.
const ownerName = "owner.json"

// ownerFormat is the version of the file.
const ownerFormat = 1

// ownerMark is owner.json. A person may add a path to it, where one project is
// reached by several.
type ownerMark struct {
	Format   int      `json:"format"`
	Projects []string `json:"projects"`
}

// OwnedError says that a root holds the state of others. Nothing was written.
type OwnedError struct {
	Root  string
	File  string   // what says so
	Owner string   // who wanted to use it
	Have  []string // whose it is
}

func (e *OwnedError) Error() string {
	return fmt.Sprintf("%s holds the state of the project %q, not of %s: two projects in one state would report on each other's runs", e.Root, e.Have, e.Owner)
}

// CheckOwner refuses a root that others own, with an *OwnedError, and one where
// owner.json does not say whose it is, with a *DamagedError. One that nobody owns yet is
// everybody's. It reads one small file at most, none without an
// owner, and writes nothing. The disk may be nil: the real one.
func CheckOwner(d durable.Disk, root, owner string) error {
	if d == nil {
		d = durable.OS()
	}
	_, err := owned(d, root, owner)
	return err
}

// owned tells whether the root is marked as the owner's.
func owned(d durable.Disk, root, owner string) (bool, error) {
	if owner == "" {
		return true, nil
	}
	path := filepath.Join(root, ownerName)
	data, err := durable.ReadFile(d, path, indexLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, ownerUnread(err, path, owner)
	}
	var mark ownerMark
	if err := json.Unmarshal(data, &mark); err != nil || mark.Format != ownerFormat || len(mark.Projects) == 0 {
		return false, &DamagedError{File: path, Why: "it does not say whose state this is", Fix: ownerFix("it", owner)}
	}
	if !slices.Contains(mark.Projects, owner) {
		return false, &OwnedError{Root: root, File: path, Owner: owner, Have: mark.Projects}
	}
	return true, nil
}

// ownerUnread makes damage of what lies in the place of owner.json and could never be
// it; the errors of the disk stay.
func ownerUnread(err error, path, owner string) error {
	if not := new(durable.NotRegularError); errors.As(err, &not) {
		return &DamagedError{File: path, Why: "it is " + not.Kind() + ", not a file, and does not say whose state this is", Fix: "move it away, then " + ownerFix("a file of that name", owner)}
	}
	if errors.As(err, new(*fs.PathError)) {
		return err
	}
	return &DamagedError{File: path, Why: err.Error(), Fix: "move it away, then " + ownerFix("a file of that name", owner)}
}

func ownerFix(file, owner string) string {
	return fmt.Sprintf(`write {"format":1,"projects":[%q]} into %s, if the state is that project's`, owner, file)
}

// claim makes the root the owner's, durably, where it is nobody's. Of those who
// claim it at once the operating system lets one through.
func (c *core[S, F, E]) claim() error {
	switch mine, err := owned(c.opts.Disk, c.root, c.opts.Owner); {
	case mine || err != nil:
		return err
	}
	data, err := json.Marshal(ownerMark{Format: ownerFormat, Projects: []string{c.opts.Owner}})
	if err != nil {
		return err
	}
	err = durable.Add(c.opts.Disk, filepath.Join(c.root, ownerName), append(data, '\n'), filePerm)
	if errors.Is(err, fs.ErrExist) {
		_, err = owned(c.opts.Disk, c.root, c.opts.Owner)
	}
	return err
}
