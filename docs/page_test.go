package docs_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pages are all pages with something to prove, by their paths from this folder.
func pages(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("*.md")
	if err != nil || len(names) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	return append(names, "../README.md")
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// block is a fenced block of a page.
type block struct {
	page   string
	line   int    // of the fence
	lang   string // first word after the fence
	file   string // second word: the file that the block is
	marker string // of the comment on the line before, without its marks
	text   string
}

func blocks(t *testing.T, page string) []block {
	t.Helper()
	var all []block
	var open *block
	before := ""
	for i, line := range strings.Split(readPage(t, page), "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && open == nil:
			words := append(strings.Fields(fence), "", "")
			open = &block{page: page, line: i + 1, lang: words[0], file: words[1], marker: marker(before)}
		case isFence:
			if open.marker == "unpinned" { // the text says to pin it next
				open.text += "sha256 = \"…\"\n"
			}
			all = append(all, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		}
		before = line
	}
	if open != nil {
		t.Errorf("%s:%d: the block has no end", page, open.line)
	}
	return all
}

// marker is what a comment says that stands alone on its line.
func marker(line string) string {
	text, ok := strings.CutPrefix(strings.TrimSpace(line), "<!-- ")
	if !ok {
		return ""
	}
	return strings.TrimSuffix(text, " -->")
}

// row is one row of a table, cell by cell, without backticks around the first.
type row struct {
	line  int
	cells []string
}

// tables are the tables of a page that have a marker, by the marker.
func tables(t *testing.T, page string) map[string][]row {
	t.Helper()
	lines := strings.Split(readPage(t, page), "\n")
	found := map[string][]row{}
	for i, line := range lines {
		name := marker(line)
		if name == "" || i+1 == len(lines) || !strings.HasPrefix(lines[i+1], "|") {
			continue
		}
		if found[name] != nil {
			t.Errorf("%s:%d: there is a table %q already", page, i+1, name)
		}
		for j := i + 3; j < len(lines) && strings.HasPrefix(lines[j], "|"); j++ {
			found[name] = append(found[name], row{line: j + 1, cells: cells(lines[j])})
		}
	}
	return found
}

func cells(line string) []string {
	parts := strings.Split(strings.Trim(line, "|"), "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	parts[0] = strings.Trim(parts[0], "`")
	return parts
}

func column(rows []row, n int) []string {
	var all []string
	for _, r := range rows {
		all = append(all, r.cells[n])
	}
	slices.Sort(all)
	return all
}

// write makes files below a folder.
func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The README's way to a plugin is that of the plugins' page, which a test follows word
// by word in each language.
func TestFiveMinutesAreTheSame(t *testing.T) {
	section := func(page string) string {
		_, text, _ := strings.Cut(readPage(t, page), "\n## Five minutes\n")
		text, _, _ = strings.Cut(text, "\n## ")
		return text
	}
	readme, plugins := section("../README.md"), section("../plugins/README.md")
	if readme == "" || readme != plugins {
		t.Errorf("README.md:\n%s\nplugins/README.md:\n%s", readme, plugins)
	}
}
