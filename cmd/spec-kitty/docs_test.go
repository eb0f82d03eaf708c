package main

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestReferenceIsComplete: docs/cli.md names every command that can be run, and
// every error code in the row of its exit code.
func TestReferenceIsComplete(t *testing.T) {
	raw, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		name := strings.TrimPrefix(cmd.CommandPath(), "spec-kitty ")
		if !cmd.HasSubCommands() && !strings.Contains(page, "`"+name+" ") && !strings.Contains(page, "`"+name+"`") && !strings.Contains(page, "## "+name) {
			t.Errorf("docs/cli.md does not name %q", name)
		}
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(newRoot(&app{}))
	_, table, _ := strings.Cut(page, "## Exit codes")
	rows := strings.Split(table, "\n")
	for _, row := range exitTable() {
		for _, code := range row.errors {
			if !named(rows, row.code, "`"+string(code)+"`") {
				t.Errorf("docs/cli.md does not say that %s ends with %d", code, row.code)
			}
		}
	}
}

func named(rows []string, code int, name string) bool {
	for _, row := range rows {
		cells := strings.Split(row, "|")
		if len(cells) > 3 && strings.Contains(cells[3], name) && strings.Contains(cells[1], strconv.Itoa(code)) {
			return true
		}
	}
	return false
}
