package lanes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spec-kitty/step-runner/host/mission"
)

// minPrefix is how much of a ULID names a mission.
const minPrefix = 8

// Resolve finds the mission that handle names in the folder of missions dir: by
// its folder's name, by the slug in its meta.json (with or without the number in
// front), by its folder's number, or by an unambiguous prefix of at least eight
// letters of its ULID. A handle that is a folder's name opens that folder only;
// all others look at every mission. Errors are *InvalidHandleError,
// *NotFoundError, *AmbiguousError, and *FileError where the mission that was named
// has a damaged meta.json, or is a link.
func Resolve(dir, handle string) (Mission, error) {
	if err := mission.CheckName(handle); err != nil {
		return Mission{}, &InvalidHandleError{Handle: handle, Why: err.Error()}
	}
	if info, err := os.Stat(filepath.Join(dir, handle)); err == nil && info.IsDir() {
		slug, err := asStored(dir, handle, info)
		if err != nil {
			return Mission{}, err
		}
		return Load(dir, slug)
	}
	all, unreadable, err := List(dir)
	if err != nil {
		return Mission{}, err
	}
	return pick(dir, handle, all, unreadable)
}

// asStored is a folder's name as it was given when it was made. File systems that
// ignore the case of letters open it by others too, and one mission would go by
// several names; such a file system opens the name with its case swapped.
func asStored(dir, handle string, info fs.FileInfo) (string, error) {
	swapped, err := os.Stat(filepath.Join(dir, swapCase(handle)))
	if err != nil || swapCase(handle) == handle || !os.SameFile(info, swapped) {
		return handle, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", fmt.Errorf("look up the mission's name: %w", err)
	}
	for _, entry := range entries {
		if strings.EqualFold(entry.Name(), handle) {
			return entry.Name(), nil
		}
	}
	return handle, nil
}

func swapCase(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return r
	}, name)
}

// List reads all missions of a folder, sorted by slug. Those whose meta.json is
// damaged, and links, come back beside, as *FileError, never hidden. A folder that is not
// there holds none.
func List(dir string) ([]Mission, []error, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("look through the missions: %w", err)
	}
	var all []Mission
	var bad []error
	for _, entry := range entries {
		if mission.CheckName(entry.Name()) != nil || !isFolder(dir, entry) {
			continue
		}
		m, err := Load(dir, entry.Name())
		if err != nil {
			bad = append(bad, err)
			continue
		}
		all = append(all, m)
	}
	return all, bad, nil
}

// isFolder follows a link, so that Load says what is wrong with it and it is not
// hidden.
func isFolder(dir string, entry fs.DirEntry) bool {
	if entry.Type()&fs.ModeSymlink == 0 {
		return entry.IsDir()
	}
	info, err := os.Stat(filepath.Join(dir, entry.Name()))
	return err == nil && info.IsDir()
}

func pick(dir, handle string, all []Mission, unreadable []error) (Mission, error) {
	var found []Mission
	for _, m := range all {
		if m.answersTo(handle) {
			found = append(found, m)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		e := &NotFoundError{Handle: handle, Dir: dir, Near: near(handle, all)}
		for _, err := range unreadable {
			e.Unreadable = append(e.Unreadable, err.Error())
		}
		return Mission{}, e
	}
	return Mission{}, &AmbiguousError{Handle: handle, Candidates: slugs(found)}
}

func (m Mission) answersTo(handle string) bool {
	if m.Alias == handle || bare(m.Slug) == handle || (m.Alias != "" && bare(m.Alias) == handle) {
		return true
	}
	if allDigits(handle) && m.Number != "" && m.Number == trimZeros(handle) {
		return true
	}
	return len(handle) >= minPrefix && strings.HasPrefix(m.ID, strings.ToUpper(handle))
}

// bare is a slug without the number in front of it.
func bare(slug string) string {
	if numberOf(slug) == "" {
		return slug
	}
	_, rest, _ := strings.Cut(slug, "-")
	return rest
}

func slugs(all []Mission) []string {
	names := make([]string, 0, len(all))
	for _, m := range all {
		names = append(names, m.Slug)
	}
	slices.Sort(names)
	return names
}
