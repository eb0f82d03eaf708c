package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Links between pages lead to a file, and to a heading in it.
func TestLinksLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, page := range pages(t) {
		for _, found := range link.FindAllStringSubmatch(prose(readPage(t, page)), -1) {
			if strings.Contains(found[1], "://") {
				continue
			}
			name, heading, _ := strings.Cut(found[1], "#")
			target := page
			if name != "" {
				target = filepath.Join(filepath.Dir(page), filepath.FromSlash(name))
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %s: %v", page, found[1], err)
			} else if heading != "" && !anchors(readPage(t, target))[heading] {
				t.Errorf("%s: %s: there is no such heading", page, found[1])
			}
		}
	}
}

// prose is a page without its blocks.
func prose(page string) string {
	var out strings.Builder
	inside := false
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "```") {
			inside = !inside
		} else if !inside {
			out.WriteString(line)
		}
	}
	return out.String()
}

// anchors are the names that a page's headings are linked by.
func anchors(page string) map[string]bool {
	all := map[string]bool{}
	for line := range strings.Lines(prose(page)) {
		heading, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if !ok || !strings.HasPrefix(line, "#") {
			continue
		}
		name := strings.ToLower(strings.TrimSpace(heading))
		name = regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(name, "")
		all[strings.ReplaceAll(name, " ", "-")] = true
	}
	return all
}
