package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
		if testing.Short() && fault != "none" && fault != "escapes" && fault != "grants" {
			continue // a few hundred processes, which the race detector makes slow
		}
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			k, _ := kitOf(t, fault)
			report, err := k.Check(context.Background(), "faulty")
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				onThePage(t, report.Checks)
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

// onThePage wants the page for authors to list all checks by their names.
func onThePage(t *testing.T, checks []PluginCheck) {
	t.Helper()
	page := read(t, filepath.Join("..", "..", "plugins", "README.md"))
	for _, c := range checks {
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
	if testing.Short() {
		t.Skip("a dozen processes, which the race detector makes slow")
	}
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
