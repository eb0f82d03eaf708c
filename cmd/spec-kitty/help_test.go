package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

const goldenHelp = "testdata/help.golden"

// The pages of the documentation come as they are.
func TestHelpManual(t *testing.T) {
	files := map[string]string{"writing-missions": "docs/missions.md", "writing-loops": "docs/loops.md", "writing-plugins": "plugins/README.md"}
	if len(files) != len(manual()) {
		t.Errorf("%d pages, known %d", len(manual()), len(files))
	}
	for name, file := range files {
		want, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		code := run(process{args: []string{"help", name}, out: &out, err: &errs, getenv: func(string) string { return "" }})
		if code != 0 || out.String() != string(want) {
			t.Errorf("help %s is not %s: exit code %d, %s", name, file, code, &errs)
		}
	}
}

// TestHelp pins every page of help; -update writes them anew.
func TestHelp(t *testing.T) {
	var all strings.Builder
	page := func(args ...string) {
		var out, errs bytes.Buffer
		code := run(process{args: append([]string{"help"}, args...), out: &out, err: &errs, getenv: func(string) string { return "" }})
		if code != 0 || errs.Len() > 0 {
			t.Fatalf("help %v: exit code %d, stderr %s", args, code, &errs)
		}
		all.WriteString("== spec-kitty help " + strings.Join(args, " ") + "\n" + out.String() + "\n")
	}
	var walk func(*cobra.Command, []string)
	walk = func(cmd *cobra.Command, path []string) {
		page(path...)
		for _, c := range cmd.Commands() {
			if c.Name() != "help" {
				walk(c, append(path[:len(path):len(path)], c.Name()))
			}
		}
	}
	walk(newRoot(&app{}), nil)
	for _, topic := range topics()[:len(topics())-len(manual())] { // TestHelpManual has the others
		page(topic.name)
	}
	if *update {
		if err := os.WriteFile(goldenHelp, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(filepath.FromSlash(goldenHelp))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), all.String()); diff != "" {
		t.Errorf("help (-golden +now; -update writes it anew):\n%s", diff)
	}
}
