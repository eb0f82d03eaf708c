package loop

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/schedule"
)

// Patterns of protected files, with ** for any number of folders.
func TestProtected(t *testing.T) {
	for _, c := range []struct {
		pattern, file string
		fits          bool
	}{
		{"**/*_test.go", "a_test.go", true}, {"**/*_test.go", "a/b/c_test.go", true}, {"**/*_test.go", "a/b/c.go", false},
		{"*_test.go", "a/b_test.go", false}, {"docs/**", "docs/a/b.md", true}, {"docs/**", "docs", true}, {"docs/**", "docx/a", false},
		{"a/**/z", "a/z", true}, {"a/**/z", "a/b/c/z", true}, {"a/**/b/**/z", "a/b/x/b/y/z", true}, {"a/**/b/**/z", "a/x/z", false},
		{"**", "anything/at/all", true}, {"?.go", "ä.go", true}, {"[ab].go", "c.go", false}, {"A.go", "a.go", false},
	} {
		if got := len(Protected([]string{c.pattern}, []string{c.file})) == 1; got != c.fits {
			t.Errorf("%s and %s: %t", c.pattern, c.file, got)
		}
	}
	got := Protected([]string{"b/*", "**/x"}, []string{"b/x", "c", "a/x", "b/x"})
	if !slices.Equal(got, []string{"a/x", "b/x"}) {
		t.Errorf("%v", got)
	}
	hard := strings.Repeat("**/a/", 30) + "b" // not exponential
	if len(Protected([]string{hard}, []string{strings.Repeat("a/", 200) + "c"})) != 0 {
		t.Error("fits")
	}
	for pattern, good := range map[string]bool{"**/*_test.go": true, "": false, "/a": false, "a/": false, "a[": false, `a\b`: false, "../a": false, "./a": false} {
		if err := CheckPattern(pattern); (err == nil) != good {
			t.Errorf("%q: %v", pattern, err)
		}
	}
}

// What is wrong with a definition as a whole.
func TestCheck(t *testing.T) {
	good := func() *Definition {
		d := definition()
		d.Worktree = Worktree{Base: "main", Branch: "loop/deps"}
		return d
	}
	if problems := good().Check(); len(problems) > 0 {
		t.Fatalf("%v", problems)
	}
	for name, c := range map[string]struct {
		spoil func(*Definition)
		path  string
	}{
		"endless":   {func(d *Definition) { d.Limits = Limits{MaxFailures: 1} }, "limits"},
		"idle":      {func(d *Definition) { d.Work.Timeout, d.Work.IdleTimeout = time.Hour, time.Hour }, "work.idle_timeout"},
		"own base":  {func(d *Definition) { d.Worktree.Branch = "main" }, "worktree.branch"},
		"dots":      {func(d *Definition) { d.Worktree.Branch = "a..b" }, "worktree.branch"},
		"option":    {func(d *Definition) { d.Worktree.Branch = "-d" }, "worktree.branch"},
		"lock":      {func(d *Definition) { d.Worktree.Branch = "a.lock/b" }, "worktree.branch"},
		"hidden":    {func(d *Definition) { d.Worktree.Base = "a/.b" }, "worktree.base"},
		"control":   {func(d *Definition) { d.Worktree.Branch = "a\nb" }, "worktree.branch"},
		"at":        {func(d *Definition) { d.Worktree.Branch = "@" }, "worktree.branch"},
		"cron":      {func(d *Definition) { d.Schedule.Rule = schedule.Rule{Cron: "x"} }, "schedule.cron"},
		"every":     {func(d *Definition) { d.Schedule.Rule = schedule.Rule{Every: 1} }, "schedule.every"},
		"jitter":    {func(d *Definition) { d.Schedule = every(time.Hour); d.Schedule.Jitter = time.Hour }, "schedule.jitter"},
		"gap":       {func(d *Definition) { d.Schedule = every(time.Hour); d.Schedule.MinGap = 2 * time.Hour }, "schedule.min_gap"},
		"two times": {func(d *Definition) { d.Approval.Before = []Stage{ToLand, ToLand} }, "approval.before"},
	} {
		d := good()
		c.spoil(d)
		if problems := d.Check(); len(problems) != 1 || problems[0].Path != c.path || problems[0].Message == "" {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

// The digest is of all that a definition says.
func TestCanonical(t *testing.T) {
	whole := func() *Definition {
		d := definition()
		d.Gate, d.Verify.Protect, d.Schedule = &Check{Run: []string{"x"}}, []string{"**"}, every(time.Hour)
		return d
	}
	want(t, "digest", whole().Digest(), whole().Digest())
	for name, change := range map[string]func(*Definition){
		"text": func(d *Definition) { d.Description = "another" }, "gate": func(d *Definition) { d.Gate.Run[0] = "y" }, "no gate": func(d *Definition) { d.Gate = nil },
		"protect": func(d *Definition) { d.Verify.Protect = nil }, "schedule": func(d *Definition) { d.Schedule.CatchUp = false },
	} {
		d := whole()
		if change(d); d.Digest() == whole().Digest() {
			t.Errorf("%s: two definitions have one digest", name)
		}
	}
}
