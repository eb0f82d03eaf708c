package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// drawings counts writes and ends the watch at the third.
type drawings struct {
	pages [][]byte
	tick  chan time.Time
	stop  context.CancelFunc
	after func(page int) // what happens after it was drawn; nil: nothing
}

func (d *drawings) Write(page []byte) (int, error) {
	d.pages = append(d.pages, bytes.Clone(page))
	if d.after != nil {
		d.after(len(d.pages))
	}
	if len(d.pages) == 3 {
		d.stop()
	} else {
		d.tick <- time.Time{}
	}
	return len(page), nil
}

// TestWatchRedraws: status --watch draws a whole page at every tick, reads
// everything anew each time, and ends without error when it is interrupted.
func TestWatchRedraws(t *testing.T) {
	root := t.TempDir()
	config := "schema = 1\n[missions.m]\nsteps = [{ id = \"a\", prompt = \"x\" }]\n"
	if err := os.WriteFile(filepath.Join(root, "spec-kitty.toml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	d := &drawings{tick: make(chan time.Time, 1), stop: stop}
	a := &app{process: process{out: d, err: d, getenv: func(string) string { return "" }}, root: root}
	if err := a.watch(ctx, "", d.tick); err != nil {
		t.Fatal(err)
	}
	for _, page := range d.pages {
		if !bytes.HasPrefix(page, []byte("\x1b[H\x1b[2J")) || !bytes.Contains(page, []byte("No mission has a run yet")) {
			t.Errorf("page: %q", page)
		}
	}
}
