//go:build unix

package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Case 54, P5: recorded calls that somebody else made lead nobody out of their folder:
// no request or answer is read through a link, no file is shown, and --update writes
// into the place of a link and not where it leads.
func TestRecordedCallsLeadNobodyOut_Case54(t *testing.T) {
	wasm, err := filepath.Abs("../sandbox/testdata/refuse.wasm")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		link, to string
		update   bool
		says     string
	}{
		"a request":        {"a.request.json", "secret", false, "leads out of its folder"},
		"an answer":        {"a.answer.json", "secret", false, "leads out of its folder"},
		"the call's files": {"a.files", ".", false, "are a link"},
		"shared files":     {"files", ".", true, "are a link"},
		"an answer anew":   {"a.answer.json", "secret", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir, outside := t.TempDir(), t.TempDir()
			secret := filepath.Join(outside, "secret")
			write(t, secret, "{}")
			if c.link != "a.request.json" {
				write(t, filepath.Join(dir, "a.request.json"), `{"abi":1,"verb":"guard"}`)
			}
			link(t, filepath.Join(outside, c.to), filepath.Join(dir, c.link))
			k, _ := kitOf(t, "none")
			got, err := k.Test(t.Context(), PluginTestAsk{Dir: dir, Target: wasm, Update: c.update})
			if c.says == "" {
				info, lost := os.Lstat(filepath.Join(dir, c.link))
				if err != nil || lost != nil || !info.Mode().IsRegular() || !got.Passed {
					t.Errorf("%+v, %v; %v, %v", got, err, info, lost)
				}
			} else if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v does not say %q", err, c.says)
			}
			if read(t, secret) != "{}" {
				t.Error("what lies outside was written to")
			}
		})
	}
}
