package tick

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spec-kitty/step-runner/host/loop"
)

// FuzzRunFiles: what lies in a run's folder can be anything, since the work may
// write there: a heartbeat, an outcome and a usage that are read are whole and the
// run's own.
func FuzzRunFiles(f *testing.F) {
	f.Add([]byte(`{"fail":{"UID":"u1","Token":1,"Why":"timeout"}}` + "\n"))
	f.Add([]byte(`{"fail":{"UID":"u1","Token":2,"Why":"timeout"}}` + "\n"))
	f.Add([]byte(`{"finish":{"UID":"u1","Token":1},"cancel":{"UID":"u1","Token":1}}` + "\n\x00\x00"))
	f.Add([]byte(`{"token":1,"boot":"b","up":"1h0m0s","at":"2026-01-02T03:04:05Z"}`))
	f.Add([]byte(`{"cost":-1,"tokens":1e99,"context":"200%"}`))
	f.Add([]byte("null\n"))
	dir, own := f.TempDir(), loop.Tick{UID: "u1", Token: 1}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, name := range []string{outcomeName, beatName, usageName} {
			must(t, os.WriteFile(filepath.Join(dir, name), raw, 0o600))
		}
		if kept := leftIn(dir, own); kept != nil && (tickOf(kept).UID != own.UID || tickOf(kept).Token != own.Token) {
			t.Fatalf("another run's outcome is taken: %+v", kept)
		}
		readBeat(dir)
		if u := readUsage(dir); u.Tokens != nil && *u.Tokens < 0 {
			t.Fatalf("usage %+v", u)
		}
	})
}

// FuzzNote: whatever lies in the note of a schedule, what is believed of it is of this
// loop.
func FuzzNote(f *testing.F) {
	f.Add([]byte(`{"schema":1,"system":"cron","by":"me","at":"2026-01-02T03:04:05Z","job":{"UID":"u1"}}`))
	f.Add([]byte(`{"job":{"UID":"u2"}}`))
	f.Add([]byte("null\n"))
	l := New(Ground{Root: f.TempDir(), State: f.TempDir()}, Options{})
	dir := filepath.Join(l.dir(), "deps")
	must(f, os.MkdirAll(dir, 0o755))
	f.Fuzz(func(t *testing.T, raw []byte) {
		must(t, os.WriteFile(filepath.Join(dir, noteName), raw, 0o600))
		if n, err := l.readNote("deps", "u1"); err == nil && n != nil && n.Job.UID != "u1" {
			t.Fatalf("another loop's note is believed: %+v", n)
		}
	})
}
