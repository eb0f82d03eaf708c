package trust_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/host/trust"
)

var now = time.Date(2026, 11, 29, 22, 0, 0, 0, time.UTC)

func set() trust.Set {
	return trust.Set{
		Commands: map[string]trust.Command{"unit-tests": {Run: []string{"go", "test", "./..."}, Timeout: 1e9, Cwd: "project", PassEnv: []string{"PATH"}, Output: 1 << 20}},
		Plugins:  map[string]trust.Plugin{"lint": {SHA256: strings.Repeat("a", 64)}},
	}
}

// store is a store with a folder and a project of its own.
func store(t *testing.T) (*trust.Store, trust.Options) {
	t.Helper()
	o := trust.Options{Dir: filepath.Join(t.TempDir(), "config", "trust"), Project: t.TempDir()}
	return trust.Open(o), o
}

func trusts(t *testing.T, s *trust.Store, digest string, want bool) {
	t.Helper()
	if got, err := s.Trusts(digest); got != want || err != nil {
		t.Errorf("trusted %t, %v; want %t", got, err, want)
	}
}

// What a set is shown by stays on its line: one from elsewhere could else show other
// lines than what it would run.
func TestSetOfSeveralLines(t *testing.T) {
	const two = "a\n  runs   true"
	for name, s := range map[string]trust.Set{
		"a command":            {Commands: map[string]trust.Command{two: {}}},
		"a folder":             {Commands: map[string]trust.Command{"a": {Cwd: two}}},
		"a variable":           {Commands: map[string]trust.Command{"a": {PassEnv: []string{two}}}},
		"a plugin":             {Plugins: map[string]trust.Plugin{two: {}}},
		"a pin":                {Plugins: map[string]trust.Plugin{"a": {SHA256: two}}},
		"a plugin's folder":    {Plugins: map[string]trust.Plugin{"a": {Dir: two}}},
		"a write grant":        {Plugins: map[string]trust.Plugin{"a": {Write: []string{two}}}},
		"a read grant":         {Plugins: map[string]trust.Plugin{"a": {Read: []string{two}}}},
		"a plugin's variable":  {Plugins: map[string]trust.Plugin{"a": {Env: map[string]string{two: ""}}}},
		"a loop":               {Loops: map[string]trust.Loop{two: {}}},
		"a branch":             {Loops: map[string]trust.Loop{"a": {Branch: two}}},
		"a prompt":             {Loops: map[string]trust.Loop{"a": {Prompt: two}}},
		"a definition":         {Loops: map[string]trust.Loop{"a": {Definition: two}}},
		"a loop's variable":    {Loops: map[string]trust.Loop{"a": {PassEnv: []string{two}}}},
		"a part":               {Loops: map[string]trust.Loop{"a": {Programs: map[string][]string{two: nil}}}},
		"a script":             {Loops: map[string]trust.Loop{"a": {Scripts: map[string]string{two: ""}}}},
		"a script's digest":    {Loops: map[string]trust.Loop{"a": {Scripts: map[string]string{"a": two}}}},
		"a terminal's command": {Commands: map[string]trust.Command{"a\x1b[2J": {}}},
	} {
		if _, err := trust.Decode(s.Encode()); err == nil || !strings.Contains(err.Error(), "control character") {
			t.Errorf("%s: %v", name, err)
		}
	}
	args := trust.Set{Commands: map[string]trust.Command{"a": {Run: []string{"sh", "-c", two}}}}
	if _, err := trust.Decode(args.Encode()); err != nil {
		t.Error(err)
	}
}

// Whatever in a set would run or write something else gives another digest.
func TestEveryChangeAsksAgain(t *testing.T) {
	old := set().Digest()
	for name, change := range map[string]func(*trust.Set){
		"an argument": func(s *trust.Set) {
			c := s.Commands["unit-tests"]
			c.Run = []string{"go", "test", "."}
			s.Commands["unit-tests"] = c
		},
		"arguments joined": func(s *trust.Set) {
			c := s.Commands["unit-tests"]
			c.Run = []string{"go", "test ./..."}
			s.Commands["unit-tests"] = c
		},
		"a name":          func(s *trust.Set) { s.Commands["other"] = s.Commands["unit-tests"]; delete(s.Commands, "unit-tests") },
		"a further one":   func(s *trust.Set) { s.Commands["lint"] = trust.Command{Run: []string{"lint"}} },
		"the time":        func(s *trust.Set) { c := s.Commands["unit-tests"]; c.Timeout++; s.Commands["unit-tests"] = c },
		"the folder":      func(s *trust.Set) { c := s.Commands["unit-tests"]; c.Cwd = "workspace"; s.Commands["unit-tests"] = c },
		"the environment": func(s *trust.Set) { c := s.Commands["unit-tests"]; c.PassEnv = nil; s.Commands["unit-tests"] = c },
		"a pin":           func(s *trust.Set) { s.Plugins["lint"] = trust.Plugin{SHA256: strings.Repeat("b", 64)} },
		"a plugin's folder": func(s *trust.Set) {
			s.Plugins["lint"] = trust.Plugin{SHA256: strings.Repeat("a", 64), Dir: strings.Repeat("d", 64)}
		},
		"a write grant": func(s *trust.Set) {
			s.Plugins["lint"] = trust.Plugin{SHA256: strings.Repeat("a", 64), Write: []string{"docs"}}
		},
		"a plugin's arguments": func(s *trust.Set) {
			s.Plugins["lint"] = trust.Plugin{SHA256: strings.Repeat("a", 64), Args: []string{"--force"}}
		},
		"what a plugin reads": func(s *trust.Set) {
			s.Plugins["lint"] = trust.Plugin{SHA256: strings.Repeat("a", 64), Read: []string{"src"}}
		},
		"a plugin's environment": func(s *trust.Set) {
			s.Plugins["lint"] = trust.Plugin{SHA256: strings.Repeat("a", 64), Env: map[string]string{"MODE": "all"}}
		},
		"a plugin": func(s *trust.Set) { s.Plugins["new"] = trust.Plugin{SHA256: strings.Repeat("c", 64)} },
	} {
		changed := set()
		change(&changed)
		if changed.Digest() == old {
			t.Errorf("%s changed, and the digest did not", name)
		}
	}
	if set().Digest() != old {
		t.Error("the same set has another digest")
	}
}

func TestSetReadsBack(t *testing.T) {
	want := set()
	got, err := trust.Decode(want.Encode())
	want.Format = 1
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	for name, text := range map[string]string{
		"a field of a newer version": `{"format":1,"networks":{}}`, "a newer format": `{"format":2}`,
		"two values": `{"format":1}{"format":1}`, "no JSON": `x`, "nothing": ``,
	} {
		if _, err := trust.Decode([]byte(text)); err == nil {
			t.Errorf("%s was read", name)
		}
	}
}

func TestWhatAsks(t *testing.T) {
	reads := trust.Set{Plugins: map[string]trust.Plugin{"lint": {SHA256: "a"}}}
	writes := trust.Set{Plugins: map[string]trust.Plugin{"lint": {SHA256: "a", Write: []string{"docs"}}}}
	if reads.Asks() || (trust.Set{}).Asks() || !writes.Asks() || !set().Asks() {
		t.Error("commands and write grants ask, plugins that read do not")
	}
}

func TestGrantListRevoke(t *testing.T) {
	s, o := store(t)
	d := set().Digest()
	trusts(t, s, d, false)
	if all, err := s.List(); err != nil || len(all) != 0 {
		t.Errorf("%v, %v", all, err)
	}
	if gone, err := s.Revoke(d); err != nil || gone {
		t.Errorf("revoked %t, %v", gone, err)
	}
	if _, err := os.Stat(o.Dir); err == nil {
		t.Error("looking made the folder")
	}
	if r, err := s.Grant(set().Encode(), now); err != nil || r.Digest != d {
		t.Fatalf("%+v, %v", r, err)
	}
	trusts(t, s, d, true)
	trusts(t, trust.Open(o), d, true)
	trusts(t, s, strings.Repeat("0", 64), false)
	for _, bad := range []string{"", "x", "../../x", strings.ToUpper(d)} {
		trusts(t, s, bad, false)
	}
	all, err := s.List()
	if err != nil || len(all) != 1 || all[0].Digest != d || !all[0].At.Equal(now) {
		t.Errorf("%+v, %v", all, err)
	}
	var held trust.Set
	if err := json.Unmarshal(all[0].Set, &held); err != nil || held.Digest() != d {
		t.Errorf("the record holds %s", all[0].Set)
	}
	if gone, err := s.Revoke(d); err != nil || !gone {
		t.Errorf("revoked %t, %v", gone, err)
	}
	trusts(t, s, d, false)
}

// The same words mean other programs elsewhere: consent does not go with a copy
// of the project, nor to another user. It does to another name of the folder.
func TestConsentIsForOneProjectAndUser(t *testing.T) {
	s, o := store(t)
	d := set().Digest()
	if _, err := s.Grant(set().Encode(), now); err != nil {
		t.Fatal(err)
	}
	trusts(t, trust.Open(trust.Options{Dir: o.Dir, Project: t.TempDir()}), d, false)
	trusts(t, trust.Open(trust.Options{Dir: filepath.Join(t.TempDir(), "trust"), Project: o.Project}), d, false)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(o.Project, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	trusts(t, trust.Open(trust.Options{Dir: o.Dir, Project: link}), d, true)

	// A record that is renamed to what another project's would be called.
	other := trust.Options{Dir: o.Dir, Project: t.TempDir()}
	if err := os.Rename(file(t, o.Dir, d, o.Project), file(t, o.Dir, d, other.Project)); err != nil {
		t.Fatal(err)
	}
	trusts(t, trust.Open(other), d, false)
}

// file is the path of a record, as the format's page has it.
func file(t *testing.T, dir, digest, project string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(project)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, trust.Digest([]byte(digest+"\n"+real))+".json")
}

func TestEnvironmentConsents(t *testing.T) {
	d := set().Digest()
	o := trust.Options{Dir: filepath.Join(t.TempDir(), "none"), Project: t.TempDir(), Digest: " " + strings.ToUpper(d) + "\n"}
	trusts(t, trust.Open(o), d, true)
	trusts(t, trust.Open(o), strings.Repeat("0", 64), false)
	o.Digest = "all"
	trusts(t, trust.Open(o), d, false)
}

// Whoever else could write to the folder could consent in the user's place.
func TestFolderThatIsNotOurs(t *testing.T) {
	d := set().Digest()
	for name, spoil := range map[string]func(o *trust.Options) error{
		"others may read":  func(o *trust.Options) error { return os.Chmod(o.Dir, 0o755) },
		"others may write": func(o *trust.Options) error { return os.Chmod(o.Dir, 0o770) },
		"a record may be":  func(o *trust.Options) error { return os.Chmod(file(t, o.Dir, d, o.Project), 0o666) },
		"a link":           func(o *trust.Options) error { return relink(o.Dir) },
		"a file":           func(o *trust.Options) error { return errors.Join(os.RemoveAll(o.Dir), os.WriteFile(o.Dir, nil, 0o600)) },
		"in the project":   func(o *trust.Options) error { o.Project = filepath.Dir(o.Dir); return nil },
		"a damaged record": func(o *trust.Options) error { return os.WriteFile(file(t, o.Dir, d, o.Project), []byte("{"), 0o600) },
		"a folder for one": func(o *trust.Options) error {
			f := file(t, o.Dir, d, o.Project)
			return errors.Join(os.Remove(f), os.Mkdir(f, 0o700))
		},
		"a link for a file": func(o *trust.Options) error { return relink(file(t, o.Dir, d, o.Project)) },
	} {
		t.Run(name, func(t *testing.T) {
			s, o := store(t)
			if _, err := s.Grant(set().Encode(), now); err != nil {
				t.Fatal(err)
			}
			if err := spoil(&o); err != nil {
				t.Skip(err)
			}
			if got, err := trust.Open(o).Trusts(d); got || err == nil {
				t.Errorf("trusted %t, %v", got, err)
			}
		})
	}
}

// relink moves a file or folder away and puts a link to it in its place.
func relink(path string) error {
	away := filepath.Join(filepath.Dir(filepath.Dir(path)), "away")
	return errors.Join(os.Rename(path, away), os.Symlink(away, path))
}

func TestManyConsentAtOnce(t *testing.T) {
	s, _ := store(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := s.Grant(set().Encode(), now); err != nil {
				t.Error(err)
			}
			trusts(t, s, set().Digest(), true)
		})
	}
	all.Wait()
	if records, err := s.List(); len(records) != 1 || err != nil {
		t.Errorf("%d records, %v", len(records), err)
	}
}
