package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/plugins/abi"
)

// kitOf is the kit of a project whose plugin faulty has one argument.
func kitOf(t *testing.T, fault string) (*Kit, string) {
	t.Helper()
	root := t.TempDir()
	wasm := read(t, filepath.Join("testdata", "faulty.wasm"))
	write(t, filepath.Join(root, "faulty.wasm"), wasm)
	write(t, filepath.Join(root, "spec-kitty.toml"), fmt.Sprintf("schema = 1\n[plugins.faulty]\nwasm = \"faulty.wasm\"\nargs = [%q]\nsha256 = %q\n", fault, hexSum([]byte(wasm))))
	return OpenKit(Options{Root: root, CacheDir: cacheDir()}), root
}

// Each fault turns exactly the checks red that it should, and a plugin without a
// fault passes all.
func TestCheckNamesTheFault(t *testing.T) {
	for fault, want := range map[string][]string{
		"none":           nil,
		"describe-reads": {"describe"},
		"describe-abi":   {"describe"},
		"any-verb":       {"other verb", "unknown verb"},
		"other-verb":     {"other verb"},
		"short":          {"a request of 1 MiB"},
		"newline":        {"a newline after the request"},
		"lenient":        {"a request that is cut off", "a request that is no JSON"},
		"unknown":        {"unknown keys"},
		"unknown-answer": {"unknown keys"},
		"depth":          {"nested 64 deep"},
		"ascii":          {"emoji and other letters"},
		"escapes":        {"\\u escapes"},
		"trap":           {"an empty mission folder"},
		"silent":         {"an empty mission folder"},
		"stray":          {"an empty mission folder"},
		"two":            {"an empty mission folder"},
		"grants":         {"no grants"},
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			k, _ := kitOf(t, fault)
			report, err := k.Check(context.Background(), "faulty")
			if err != nil {
				t.Fatal(err)
			}
			var red []string
			for _, c := range report.Checks {
				if c.Result == CheckFail {
					red = append(red, c.Check)
					if c.Found == "" || c.Fix == "" {
						t.Errorf("%+v does not say what and what to do", c)
					}
				}
			}
			if diff := cmp.Diff(want, red); diff != "" || report.Sound != (want == nil) {
				t.Errorf("sound: %v; failed (-want +got):\n%s%+v", report.Sound, diff, report.Checks)
			}
		})
	}
}

// The page for authors lists all checks by their names.
func TestChecksAreOnThePage(t *testing.T) {
	k, _ := kitOf(t, "none")
	report, err := k.Check(context.Background(), "faulty")
	if err != nil {
		t.Fatal(err)
	}
	page := read(t, filepath.Join("..", "..", "plugins", "README.md"))
	for _, c := range report.Checks {
		if !strings.Contains(page, "`"+c.Check+"`") {
			t.Errorf("plugins/README.md does not name the check %q", c.Check)
		}
	}
}

// The requests of the checks are what they say they are.
func TestCheckRequests(t *testing.T) {
	plain := baseRequest(abi.Guard)
	if got := len(withSize(plain)); got != maxRequest {
		t.Errorf("the long request has %d bytes, want %d", got, maxRequest)
	}
	depth, most := 0, 0
	for _, c := range withDepth(plain) {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		most = max(most, depth)
	}
	if most != abi.MaxDepth {
		t.Errorf("the deep request has %d levels, want %d", most, abi.MaxDepth)
	}
	for name, b := range map[string][]byte{"long": withSize(plain), "deep": withDepth(plain), "unknown": withUnknown(plain)} {
		var r abi.Request
		if err := json.Unmarshal(b, &r); err != nil || r.Step.ID != "check" {
			t.Errorf("%s: %v", name, err)
		}
	}
	var asIs, escapes any
	emoji := emojiRequest(abi.Guard)
	if err := errors.Join(json.Unmarshal(emoji, &asIs), json.Unmarshal(escaped(emoji), &escapes)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(asIs, escapes); diff != "" {
		t.Errorf("the escapes say something else:\n%s", diff)
	}
	if slices.ContainsFunc(escaped(emoji), func(c byte) bool { return c >= 0x80 }) || !strings.Contains(string(escaped(emoji)), `\ud83d\udc4b`) {
		t.Errorf("not escaped: %s", escaped(emoji))
	}
}

// A file is checked with no project around it, and a folder that was made for the
// checks is gone afterwards.
func TestCheckFileLeavesNothing(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	file, err := filepath.Abs(filepath.Join("testdata", "faulty.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	k := OpenKit(Options{Root: t.TempDir(), CacheDir: cacheDir()})
	report, err := k.Check(context.Background(), file)
	if err != nil || !report.Sound {
		t.Errorf("%+v, %v", report, err)
	}
	left, err := filepath.Glob(filepath.Join(temp, "spec-kitty-check-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	_, err = k.List()
	var e *Error
	if !errors.As(err, &e) || e.Code != CodeNotFound {
		t.Errorf("a list without a project: %v", err)
	}
}

func TestCheckEndsWithItsContext(t *testing.T) {
	k, _ := kitOf(t, "none")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := k.Check(ctx, "faulty"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A pin keeps the file's mode and the link that leads to it, leaves nothing beside
// it, and does not touch what is right already.
func TestPinReplacesTheFile(t *testing.T) {
	k, root := kitOf(t, "none")
	config, real := filepath.Join(root, "spec-kitty.toml"), filepath.Join(root, "real.toml")
	text := read(t, config)
	write(t, real, strings.Replace(text, hexSum([]byte(read(t, filepath.Join(root, "faulty.wasm")))), strings.Repeat("0", 64), 1))
	for _, err := range []error{os.Chmod(real, 0o666), os.Remove(config), os.Symlink("real.toml", config)} {
		if err != nil {
			t.Skip(err)
		}
	}
	pin, err := k.Pin(context.Background(), "faulty")
	if err != nil || !pin.Changed || value(pin.Before) != strings.Repeat("0", 64) {
		t.Fatalf("%+v, %v", pin, err)
	}
	if read(t, real) != text {
		t.Errorf("%s", read(t, real))
	}
	info, err := os.Stat(real)
	if err != nil || info.Mode().Perm() != 0o666 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if link, err := os.Readlink(config); err != nil || link != "real.toml" {
		t.Errorf("the link: %q, %v", link, err)
	}
	names, err := os.ReadDir(root)
	if err != nil || len(names) != 3 {
		t.Errorf("%v, %v", names, err)
	}
	before := info.ModTime()
	if pin, err = k.Pin(context.Background(), "faulty"); err != nil || pin.Changed {
		t.Errorf("%+v, %v", pin, err)
	}
	if info, err = os.Stat(real); err != nil || !info.ModTime().Equal(before) {
		t.Errorf("written again: %v", err)
	}
}

// The request that is printed is the one that a report sends: same bytes but for
// the time, and the same answer of the plugin.
func TestPluginRequestIsWhatIsSent(t *testing.T) {
	root := makeProject(t, `
[missions.t]
steps = [{ id = "A", guards = [{ plugin = "refuse", with = { x = 1 } }, { plugin = "refuse", with = { x = 2 } }], executor = { plugin = "success" } }]`, nil, "refuse", "success")
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	p := open(t, root, func(o *Options) { o.Now = func() time.Time { return now } })
	a := must(t, p, report("a", cursor.Success))
	before := journal(t, root)
	ask := func(q PluginAsk) PluginQuestion {
		t.Helper()
		q.Mission = "m"
		got, err := p.PluginRequest(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	second := ask(PluginAsk{Guard: "refuse#2"})
	r, err := p.read(context.Background(), "m")
	if err != nil {
		t.Fatal(err)
	}
	issue, _ := r.state.Issue(*a.Token)
	def, err := r.facts.Def.Step(issue.Pos)
	if err != nil {
		t.Fatal(err)
	}
	s := r.reportOn(report("a", cursor.Success, *a.Token), issue, true)
	want, err := r.request(&s, def, abi.Guard, def.Guards[1].Plugin.With)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := want.Encode()
	if err != nil || string(raw) != string(second.Request) {
		t.Errorf("sent is %s, %v\nasked is %s", raw, err, second.Request)
	}
	if got := ask(PluginAsk{Executor: true}); got.Plugin != "success" || got.Verb != abi.Execute {
		t.Errorf("%+v", got)
	}
	k := OpenKit(Options{Root: root, CacheDir: cacheDir()})
	ran, err := k.Run(context.Background(), PluginCall{Target: "refuse", Asked: &second})
	if err != nil || ran.End != EndAnswer || !strings.Contains(string(ran.Answer), "refuse") {
		t.Errorf("%+v, %v", ran, err)
	}
	if journal(t, root) != before {
		t.Error("the journal changed")
	}
}

func TestPluginRequestOfPackages(t *testing.T) {
	root := makeProject(t, strings.Replace(packaged, "retry = 1", "retry = 1\nguards = [{ plugin = \"refuse\" }]", 1), packages(2), "refuse")
	p := open(t, root)
	for _, agent := range []string{"a", "b"} {
		must(t, p, report(agent, cursor.Success))
	}
	_, err := p.PluginRequest(context.Background(), PluginAsk{Mission: "m", Guard: "refuse"})
	var e *Error
	if !errors.As(err, &e) || e.Code != CodeAmbiguous || !slices.Equal(e.Candidates, []string{"WP01", "WP02"}) {
		t.Errorf("%+v", err)
	}
	for _, q := range []PluginAsk{{Package: "WP02"}, {Caller: Caller{Agent: "b"}}} {
		q.Mission, q.Guard = "m", "refuse"
		got, err := p.PluginRequest(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		var r abi.Request
		if err := json.Unmarshal(got.Request, &r); err != nil || r.Package != "WP02" || r.Agent != "b" {
			t.Errorf("%s, %v", got.Request, err)
		}
	}
}

// Recorded calls see their own files, else the shared ones, else none.
func TestRecordedFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "own.files", "x"), "")
	for at, want := range map[string]string{"own": "own.files", "other": ""} {
		got, err := recordedFiles(filepath.Join(dir, at))
		if err != nil || (want == "") != (len(got.Mounts) == 0) || want != "" && got.Mounts[0].Host != filepath.Join(dir, want) {
			t.Errorf("%s: %+v, %v", at, got, err)
		}
	}
	write(t, filepath.Join(dir, "files", "x"), "")
	got, err := recordedFiles(filepath.Join(dir, "other"))
	if err != nil || len(got.Mounts) != 1 || got.Mounts[0].Host != filepath.Join(dir, "files") {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestDiffLines(t *testing.T) {
	got := diffLines([]string{"{", "a", "b", "}"}, []string{"{", "a", "c", "d", "}"})
	if diff := cmp.Diff([]string{"- b", "+ c", "+ d"}, got); diff != "" {
		t.Error(diff)
	}
	if got := diffLines([]string{"a"}, []string{"a"}); got == nil || len(got) != 0 {
		t.Errorf("%#v", got)
	}
}
