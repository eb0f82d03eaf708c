package steprunner

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each promise of the README about safety names the test that proves it: the tests
// are there, in the packages that it names; and so are those that the crash model
// and the loops' page name. "TestX…" stands for all tests that begin so.
func TestPromisesNameTheirTests(t *testing.T) {
	readme := lines(t, "README.md")
	from := slices.Index(readme, "| promise | where it is proven |")
	rows := 0
	for _, row := range readme[max(from, 0)+2:] {
		if !strings.HasPrefix(row, "|") {
			break
		}
		cells := strings.Split(row, "|")
		if rows++; len(cells) != 4 || provenBy(t, "README.md", cells[2]) == 0 {
			t.Errorf("README.md: %q names no proof", row)
		}
	}
	if from < 0 || rows < 20 {
		t.Errorf("the README has %d promises in its table", rows)
	}
	model := lines(t, filepath.Join("docs", "crash-model.md"))
	if from = slices.Index(model, "## 6. What holds this page true"); from < 0 {
		t.Fatal("docs/crash-model.md does not say what holds it true")
	}
	if n := provenBy(t, "docs/crash-model.md", strings.Join(model[from:], "\n")); n < 20 {
		t.Errorf("docs/crash-model.md names %d tests", n)
	}
}

func lines(t *testing.T, name string) []string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(raw), "\n")
}

// provenBy counts the tests, folders and programs that a text names, and wants each
// to be there: tests in a package that the text names, in the same paragraph.
func provenBy(t *testing.T, page, text string) (found int) {
	t.Helper()
	for paragraph := range strings.SplitSeq(text, "\n") {
		var folders, tests []string
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(paragraph, -1) {
			name := strings.TrimSuffix(m[1], "/")
			switch info, err := os.Stat(filepath.FromSlash(name)); {
			case strings.HasPrefix(name, "Test"):
				tests = append(tests, name)
			case err == nil && info.IsDir():
				folders = append(folders, name)
			case strings.HasSuffix(name, "_test.go"):
				if !slices.ContainsFunc(folders, func(f string) bool { _, err := os.Stat(path.Join(f, name)); return err == nil }) {
					t.Errorf("%s: there is no %s in %v", page, name, folders)
				}
				found++
			case strings.HasPrefix(name, "go run "):
				folders = append(folders, strings.TrimPrefix(strings.Fields(name)[2], "./"))
			}
		}
		found += len(tests) + len(folders)
		for _, name := range tests {
			if !slices.ContainsFunc(folders, func(f string) bool { return hasTest(t, f, name) }) {
				t.Errorf("%s: %s is in none of %v, which its paragraph names", page, name, folders)
			}
		}
	}
	return found
}

func hasTest(t *testing.T, folder, name string) bool {
	name, prefix := strings.CutSuffix(name, "…")
	for _, file := range parseAll(t).tests[folder] {
		for _, test := range testsIn(file) {
			if test == name || prefix && strings.HasPrefix(test, name) {
				return true
			}
		}
	}
	return false
}

// The field cases of recovery and concurrency, and those that a damaged, full or
// copied disk is about, stand in tests by their numbers.
func TestEachFieldCaseOfSafetyHasATest(t *testing.T) {
	seen, number := map[string]bool{}, regexp.MustCompile(`[0-9]{2}`)
	for _, words := range regexp.MustCompile(`[Cc]ases?[ _]?[0-9]{2}((, | and |_Case)[0-9]{2})*`).FindAllString(testTexts(t), -1) {
		for _, n := range number.FindAllString(words, -1) {
			seen[n] = true
		}
	}
	for _, n := range []string{"01", "03", "05", "07", "08", "09", "10", "12", "14", "16", "25", "33", "41", "43", "51"} {
		if !seen[n] {
			t.Errorf("field case %s stands in no test", n)
		}
	}
}
