package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestEveryWayOutRuns_P4: each block has a situation here in which somebody meets
// it, and each command that the engine's source can print as a way on is printed
// in one of them; there it is run as printed. A new code, or a new command, has to
// come with its situation (issue 4 point 5, field case 09).
func TestEveryWayOutRuns_P4(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	printed, met := map[string]bool{}, map[string]bool{}
	for _, way := range situations() {
		if way.foreign && testing.Short() {
			met[way.code] = true
			continue // a plugin would be compiled by a race build
		}
		t.Run(way.name(), func(t *testing.T) {
			s := newSite(t)
			s.write("spec-kitty.toml", "schema = 1\n"+way.config)
			doc := way.meet(s)
			if got := refusalOf(doc); got != way.code {
				t.Fatalf("it is %q: %v %v", got, doc["reason"], doc["error"])
			}
			met[way.code] = true
			lines, _ := doc["recover"].([]any)
			if len(lines) == 0 {
				t.Fatalf("no way on is printed: %v", doc)
			}
			for _, line := range lines {
				printed[s.runs(line.(string))] = true
			}
		})
	}
	for _, code := range enum(t, "answer.schema.json", "reason_code") {
		if !met[code] {
			t.Errorf("nobody meets %s here: add a situation", code)
		}
	}
	for _, shape := range waysInSource(t) {
		if !testing.Short() && !slices.ContainsFunc(slices.Sorted(maps.Keys(printed)), func(p string) bool { return covers(p, shape) }) {
			t.Errorf("%q is printed in no situation: add one\nprinted: %q", shape, slices.Sorted(maps.Keys(printed)))
		}
	}
}

// refusalOf is the code of a document that refuses something; "" of others.
func refusalOf(doc map[string]any) string {
	for _, key := range []string{"reason_code", "error_code"} {
		if code, ok := doc[key].(string); ok {
			return code
		}
	}
	return ""
}

// runs runs a way on as printed and gives it back.
func (s site) runs(line string) string {
	s.t.Helper()
	if args := words(line); args[0] == "git" { // of files whose whole path it names
		s.git(args[1:]...)
		return line
	}
	s.works(line)
	return line
}

// waysInSource are the commands in the engine's source that may be printed as ways
// on: their words and flags, without what is filled in. What init and import print
// comes where nothing stands still, and what doctor finds around the runs stops none:
// their scripts run it.
func waysInSource(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../host/runner/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, name := range files {
		if base := filepath.Base(name); strings.HasSuffix(base, "_test.go") || base == "init.go" || base == "missionimport.go" || strings.HasPrefix(base, "doctoraround") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			text := literals(n)
			if !regexp.MustCompile(`^(spec-kitty|git) [a-z]`).MatchString(text) {
				return true
			}
			all = append(all, shapeOfWay(text))
			return false // its parts are no commands of their own
		})
	}
	if len(all) < 10 {
		t.Fatalf("only %q were found", all)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// literals is the text that stands in an expression as it is.
func literals(n ast.Node) string {
	switch n := n.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(n.Value)
		if n.Kind == token.STRING && err == nil {
			return text
		}
	case *ast.BinaryExpr:
		return literals(n.X) + literals(n.Y)
	case *ast.CallExpr:
		return " "
	}
	return ""
}

// shapeOfWay are the words of a command up to its first flag, and its flags.
func shapeOfWay(text string) string {
	var shape []string
	flags := false
	for _, word := range strings.Fields(strings.ReplaceAll(text, "%s", " ")) {
		flags = flags || strings.HasPrefix(word, "--")
		if !flags || strings.HasPrefix(word, "--") {
			shape = append(shape, word)
		}
	}
	return strings.Join(shape, " ")
}

// covers tells whether a printed command is one of a shape.
func covers(line, shape string) bool {
	printed := words(line)
	for i, word := range words(shape) {
		flag := strings.HasPrefix(word, "--")
		if flag && !slices.Contains(printed, word) || !flag && (i >= len(printed) || printed[i] != word) {
			return false
		}
	}
	return true
}
