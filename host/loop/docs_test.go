package loop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The published format names every kind of event.
func TestFormatNamesAllKinds(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "journal-format.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "The events of loops")
	for _, e := range oneOfEach() {
		if !strings.Contains(section, "`"+e.kind()+"`") {
			t.Errorf("docs/journal-format.md does not name %s", e.kind())
		}
	}
}
