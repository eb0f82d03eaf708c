package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/spec-kitty/step-runner/kernel/durable"
)

// compare holds the answer against the recorded one, or records it.
func (p *PluginTest) compare(at string, e ended, update bool) error {
	got := e.recordable()
	if update {
		p.Result = TestUpdated
		// In the place of a link, not through it.
		return durable.Replace(durable.OS(), at+answerSuffix, got, 0o644)
	}
	want, err := recordedFile(at + answerSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		p.Result, p.Found = CheckFail, filepath.Base(at)+answerSuffix+" is missing: --update writes it"
		return nil
	}
	if err != nil {
		return err
	}
	if !json.Valid(want) {
		p.Result, p.Found = CheckFail, filepath.Base(at)+answerSuffix+" is no JSON: mend it, or --update writes it anew"
		return nil
	}
	if sameJSON(want, got) {
		return nil
	}
	p.Result, p.Diff = CheckFail, diffLines(indented(want), indented(got))
	if e.code != "" {
		p.Found = e.saying()
	}
	return nil
}

// recordable is the answer as it is recorded: indented, or the failure's code.
func (e ended) recordable() []byte {
	raw := e.answer
	if e.code != "" {
		raw, _ = json.Marshal(map[string]string{"failure": string(e.code)})
	} else if raw == nil { // a verb that the host does not know
		raw, _ = json.Marshal(map[string]string{"stdout": shownText(e.Stdout)})
	}
	return []byte(strings.Join(indented(raw), "\n") + "\n")
}

func indented(raw []byte) []string {
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "  ") != nil {
		return strings.Split(strings.TrimSpace(string(raw)), "\n")
	}
	return strings.Split(strings.TrimSpace(out.String()), "\n")
}

func sameJSON(a, b []byte) bool {
	var x, y any
	for _, v := range []struct {
		raw  []byte
		into *any
	}{{a, &x}, {b, &y}} {
		d := json.NewDecoder(bytes.NewReader(v.raw))
		d.UseNumber()
		if d.Decode(v.into) != nil {
			return false
		}
	}
	return reflect.DeepEqual(x, y)
}

// diffLines are the lines that two texts do not share, in order, after what they
// have in common at both ends is taken off.
func diffLines(want, got []string) []string {
	for len(want) > 0 && len(got) > 0 && want[0] == got[0] {
		want, got = want[1:], got[1:]
	}
	for len(want) > 0 && len(got) > 0 && want[len(want)-1] == got[len(got)-1] {
		want, got = want[:len(want)-1], got[:len(got)-1]
	}
	diff := []string{}
	for _, line := range want {
		diff = append(diff, "- "+line)
	}
	for _, line := range got {
		diff = append(diff, "+ "+line)
	}
	return diff
}
