package docs_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/spec-kitty/step-runner/host/config"
)

// A default that a table gives as a literal changes nothing when it is written
// out; a key that it calls required is missed when it is left out.
func TestDefaultsAndRequiredKeys(t *testing.T) {
	root := t.TempDir()
	for where, rows := range documented(t) {
		p := places()[where]
		for _, r := range rows {
			key, given := r.cells[0], r.cells[2]
			switch {
			case key == "template" && p.base["prompt"] == "": // has no effect there
			case strings.HasPrefix(given, "`"):
				sameLoad(t, root, p, r, strings.Trim(given, "`"))
			case strings.HasPrefix(given, "required"):
				if _, _, err := p.load(t, root, p.with(key, "")); said(err, key) == "" {
					t.Errorf("line %d: %s is called required, and without it: %v", r.line, key, err)
				}
			}
		}
	}
}

func sameLoad(t *testing.T, root string, p place, r row, literal string) {
	t.Helper()
	key := r.cells[0]
	without, frozen, err := p.load(t, root, p.with(key, ""))
	if err != nil {
		t.Errorf("line %d: without %s: %v", r.line, key, err)
		return
	}
	written, again, err := p.load(t, root, p.with(key, key+" = "+literal))
	if err != nil {
		t.Errorf("line %d: %s = %s: %v", r.line, key, literal, err)
		return
	}
	if diff := cmp.Diff(without, written, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(config.Mission{}, config.Loop{})); diff != "" {
		t.Errorf("line %d: %s = %s is not the default:\n%s", r.line, key, literal, diff)
	}
	if frozen.Digest != again.Digest {
		t.Errorf("line %d: %s = %s is not the default: the definition differs", r.line, key, literal)
	}
}
