package lanes_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/host/lanes"
)

func meta(id, slug string) string {
	return `{"mission_id": "` + id + `", "mission_slug": "` + slug + `", "mission_type": "software-dev"}`
}

// missions is a folder with two missions of one number, two of nearly one id,
// one whose slug is not its folder's name, and one without meta.json.
func missions(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "034-pay-by-link", lanes.MetaFile), meta("01KN2371WSJ7573ZG5D21WP82P", "034-pay-by-link"))
	write(t, filepath.Join(dir, "047-first", lanes.MetaFile), meta("01KN2371WTANS0Z2M6JEHAJS3E", "047-first"))
	write(t, filepath.Join(dir, "047-second", lanes.MetaFile), meta("01KN2371WTANS0Z2M6JEHAJS3F", "047-second"))
	write(t, filepath.Join(dir, "058-folder", lanes.MetaFile), meta("01KXW0NY335CXZTP3KXAGFV8EQ", "other-slug"))
	write(t, filepath.Join(dir, "bare", "spec.md"), "text")
	write(t, filepath.Join(dir, "README.md"), "not a mission")
	return dir
}

// Case 20: every handle resolves to the same mission as its full name does.
func TestResolve(t *testing.T) {
	dir := missions(t)
	for handle, want := range map[string]string{
		"034-pay-by-link":            "034-pay-by-link",
		"pay-by-link":                "034-pay-by-link",
		"34":                         "034-pay-by-link",
		"034":                        "034-pay-by-link",
		"0034":                       "034-pay-by-link",
		"01KN2371WSJ7573ZG5D21WP82P": "034-pay-by-link",
		"01KN2371WS":                 "034-pay-by-link",
		"01kn2371ws":                 "034-pay-by-link",
		"01KXW0NY":                   "058-folder",
		"other-slug":                 "058-folder",
		"folder":                     "058-folder",
		"047-second":                 "047-second",
		"bare":                       "bare",
	} {
		m, err := lanes.Resolve(dir, handle)
		if err != nil || m.Slug != want {
			t.Errorf("%s: %q, %v; want %s", handle, m.Slug, err, want)
		}
	}
}

func TestResolveTellsAmbiguous(t *testing.T) {
	dir := missions(t)
	for handle, want := range map[string][]string{
		"47":                        {"047-first", "047-second"},
		"01KN2371":                  {"034-pay-by-link", "047-first", "047-second"},
		"01KN2371WTANS0Z2M6JEHAJS3": {"047-first", "047-second"},
	} {
		_, err := lanes.Resolve(dir, handle)
		var several *lanes.AmbiguousError
		if !errors.As(err, &several) {
			t.Errorf("%s: %v, want ambiguous", handle, err)
			continue
		}
		if diff := cmp.Diff(want, several.Candidates); diff != "" {
			t.Errorf("%s: candidates (-want +got):\n%s", handle, diff)
		}
	}
}

func TestResolveTellsNotFound(t *testing.T) {
	dir := missions(t)
	for handle, near := range map[string]string{
		"034-pay-by-lnik": "034-pay-by-link",
		"PAY":             "034-pay-by-link",
		"01KN237":         "", // seven letters of an id are too few
		"99":              "",
		"no-such-mission": "",
	} {
		_, err := lanes.Resolve(dir, handle)
		var missing *lanes.NotFoundError
		if !errors.As(err, &missing) {
			t.Errorf("%s: %v, want not found", handle, err)
			continue
		}
		if near != "" && (len(missing.Near) == 0 || missing.Near[0] != near) {
			t.Errorf("%s: near %q, want %s first", handle, missing.Near, near)
		}
	}
	if _, err := lanes.Resolve(filepath.Join(dir, "nowhere"), "x"); !errors.As(err, new(*lanes.NotFoundError)) {
		t.Errorf("no folder of missions: %v, want not found", err)
	}
}

func TestResolveTellsInvalid(t *testing.T) {
	dir := missions(t)
	for _, handle := range []string{"", ".", "..", "../x", "a/b", `a\b`, "/etc", "a.", "-a", ".git", "a b", "ä", "nul", strings.Repeat("a", 101)} {
		_, err := lanes.Resolve(dir, handle)
		var invalid *lanes.InvalidHandleError
		if !errors.As(err, &invalid) || invalid.Why == "" {
			t.Errorf("%q: %v, want invalid", handle, err)
		}
	}
}

// A folder's name opens that folder only: another mission's damage is not seen.
// A scan names it where it finds nothing.
func TestDamageElsewhere(t *testing.T) {
	dir := missions(t)
	write(t, filepath.Join(dir, "066-damaged", lanes.MetaFile), "{\n  bad")
	if _, err := lanes.Resolve(dir, "034-pay-by-link"); err != nil {
		t.Errorf("a folder's name: %v", err)
	}
	if m, err := lanes.Resolve(dir, "34"); err != nil || m.Slug != "034-pay-by-link" {
		t.Errorf("a number: %v", err)
	}
	_, err := lanes.Resolve(dir, "no-such-mission")
	var missing *lanes.NotFoundError
	if !errors.As(err, &missing) || len(missing.Unreadable) != 1 || !strings.Contains(err.Error(), "066-damaged") {
		t.Errorf("%v, want not found, naming the damaged mission", err)
	}
	_, err = lanes.Resolve(dir, "066-damaged")
	wantFault(t, err, 2, lanes.MetaFile)
	_, bad, err := lanes.List(dir)
	if err != nil || len(bad) != 1 {
		t.Errorf("damaged missions %v, %v; want one", bad, err)
	}
}

// A mission whose folder is a link is refused by name, wherever the link leads,
// and listed with what is wrong.
func TestMissionThatIsALinkIsRefused(t *testing.T) {
	dir := missions(t)
	elsewhere := t.TempDir()
	write(t, filepath.Join(elsewhere, lanes.MetaFile), meta("01KZM5087JFWNRKPX2W9H0SZPT", "070-linked"))
	for name, target := range map[string]string{"070-linked": elsewhere, "071-again": "034-pay-by-link"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
		_, err := lanes.Resolve(dir, name)
		wantFault(t, err, 0, name)
		if err == nil || !strings.Contains(err.Error(), "is a link") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, handle := range []string{"70", "01KZM5087"} {
		_, err := lanes.Resolve(dir, handle)
		var missing *lanes.NotFoundError
		if !errors.As(err, &missing) || !strings.Contains(err.Error(), "070-linked is a link") {
			t.Errorf("%s: %v, want not found, naming the link", handle, err)
		}
	}
	if m, err := lanes.Resolve(dir, "34"); err != nil || m.Slug != "034-pay-by-link" {
		t.Errorf("the folder that a link leads to: %q, %v", m.Slug, err)
	}
	if _, bad, err := lanes.List(dir); err != nil || len(bad) != 2 {
		t.Errorf("%v, %v; want both links", bad, err)
	}
}
