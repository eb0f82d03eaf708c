package steprunner

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Each requirement of the serialised advance, and of serialised loops, stands, by
// its id, in the name or the comment of at least one test. Test names cannot hold
// dots and dashes: there FR-003 is FR003 and US3.1 is US3_1 or US31.
func TestEachRequirementHasATest(t *testing.T) {
	ids := []string{
		"US1", "US2", "US3.1", "US3.2", "US3.3",
		"FR-001", "FR-002", "FR-003", "FR-004", "FR-005", "FR-006",
		"NFR-001", "NFR-002", "NFR-003", "C-001", "C-002", "Edge",
		"SC-001", "SC-002", "SC-003", "SC-004",
		"R1", "R2", "R3", "R4", "R5", "R6", "R7", "S1", "S2", "S3", "S4", "S5", "S6", "E1", "E2", "E3", "E4",
	}
	found := idsIn(testTexts(t))
	for _, id := range ids {
		if !found[unspelled(id)] {
			t.Errorf("%s stands in no test", id)
		}
	}
}

// idsIn are the ids in a text, of letters and a number, without what parts them.
func idsIn(text string) map[string]bool {
	part := func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || strings.ContainsRune("-_.", r))
	}
	id, found := regexp.MustCompile(`[A-Za-z]+[-_.]?[0-9]+([._][0-9]+)?`), map[string]bool{}
	for word := range strings.FieldsFuncSeq(text, part) {
		if strings.HasSuffix(word, "Edge") {
			found["Edge"] = true
		}
		if len(word) < 200 && strings.ContainsAny(word, "0123456789") {
			for _, name := range id.FindAllString(word, -1) {
				found[unspelled(name)] = true
			}
		}
	}
	return found
}

func unspelled(id string) string { return strings.NewReplacer(".", "", "-", "", "_", "").Replace(id) }

// Each race and crash point of loops stands, as Row and its number, in a test, and so
// does each scenario that the earlier system's review asked for, by its name.
func TestEachRowOfLoopsHasATest(t *testing.T) {
	tests := testTexts(t)
	numbers, seen := regexp.MustCompile(`[0-9]+`), map[string]bool{}
	for _, words := range regexp.MustCompile(`(?i)rows?[ _]?[0-9]+(( and |, and |, )[0-9]+)*`).FindAllString(tests, -1) {
		for _, number := range numbers.FindAllString(words, -1) {
			seen[number] = true
		}
	}
	for row := 1; row <= 48; row++ {
		if !seen[strconv.Itoa(row)] {
			t.Errorf("row %d stands in no test", row)
		}
	}
	for _, scenario := range []string{
		"SerializeConcurrent", "PerLoop", "NoLockOnCreate", "PauseSerializedWithConcurrentHolder", "PauseDoesNotWaitForWork",
		"CommitIsAtomic", "LockNotHeldWhileWorking", "Untracked", "StaleLockFile", "DirDeletedMidHold", "GateCliFromInside", "EmptyState",
		"FencedZombie", "OrphanAgent", "EscapedChild", "ApprovalMatrix", "SelfApproval", "CalendarRefusals", "CrontabKept", "BareEnv",
		"ClockJumps", "DiskFull", "RandomOps",
	} {
		if !strings.Contains(tests, scenario) {
			t.Errorf("scenario %s stands in no test", scenario)
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
