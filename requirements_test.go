package steprunner

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each requirement of the serialised advance stands, by its id, in the name or
// the comment of at least one test. Test names cannot hold dots and dashes: there
// FR-003 is FR003 and US3.1 is US3_1 or US31.
func TestEachRequirementHasATest(t *testing.T) {
	ids := []string{
		"US1", "US2", "US3.1", "US3.2", "US3.3",
		"FR-001", "FR-002", "FR-003", "FR-004", "FR-005", "FR-006",
		"NFR-001", "NFR-002", "NFR-003", "C-001", "C-002", "Edge",
		"SC-001", "SC-002", "SC-003", "SC-004",
	}
	tests := testTexts(t)
	for _, id := range ids {
		spelled := strings.NewReplacer(".", `[._]?`, "-", `[-_]?`).Replace(id)
		if !regexp.MustCompile(`(^|[^A-Za-z0-9])` + spelled + `($|[^0-9A-Za-z])|_` + spelled + `(_|\b)`).MatchString(tests) {
			t.Errorf("%s stands in no test", id)
		}
	}
}

// testTexts are all tests and scripts but this one.
func testTexts(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || name == "requirements_test.go" {
			return err
		}
		if strings.HasSuffix(name, "_test.go") || filepath.Ext(name) == ".txtar" {
			raw, err := os.ReadFile(name)
			all.Write(raw)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
