package schedule

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// systemd itself, where it is at hand, finds nothing to say against the units,
// and reads the calendar times as we do.
func TestSystemdTakesIt(t *testing.T) {
	if testing.Short() {
		t.Skip("starts programs")
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("no systemd here")
	}
	for _, rule := range []Rule{{Every: time.Minute}, {Every: 15 * time.Minute}, {Every: 6 * time.Hour}, {Cron: "0 2 * * 1-5"}, {Cron: "15 3 1 2,3 *"}, {Cron: "5/20 */5 * * 0"}} {
		times := parsed(t, rule)
		for _, days := range times.cron.dayRules() {
			on := times.cron.onCalendar(days)
			out, err := exec.Command(analyze, "calendar", "--iterations=2", "--base-time=2026-03-02 10:07:30 UTC", on).CombinedOutput()
			if err != nil && strings.Contains(string(out), "base-time") {
				t.Skipf("an old systemd: %s", out)
			}
			if err != nil {
				t.Fatalf("%s: %v: %s", on, err, out)
			}
			next := times.Next(at(t, "2026-03-02T10:07:30Z"), time.UTC)
			if want := next.Format("2006-01-02 15:04:05"); time.Local.String() == "UTC" && !strings.Contains(string(out), want) {
				t.Errorf("%v: %s: not %s:\n%s", rule, on, want, out)
			}
		}
	}
	j := nasty()
	j.Program = filepath.Join(t.TempDir(), `spec kitty 100% "x"`)
	if err := os.WriteFile(j.Program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var files []string
	for _, u := range printed(t, Systemd, j).Units {
		file := filepath.Join(dir, u.Name)
		if err := os.WriteFile(file, []byte(u.Text), 0o644); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	verify := exec.Command(analyze, append([]string{"--user", "verify"}, files...)...)
	verify.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
	out, err := verify.CombinedOutput()
	if strings.Contains(string(out), filepath.Base(files[0])+":") || strings.Contains(string(out), "not executable") {
		t.Fatalf("%v: %s", err, out)
	}
	t.Logf("%v: %s", err, out)
}
