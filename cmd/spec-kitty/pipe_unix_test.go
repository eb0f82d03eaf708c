//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/spec-kitty/step-runner/host/runner"
)

// A FILE may be a pipe. A call that waits for who writes to it ends with the context,
// as a signal ends it, and reads what comes.
func TestPipeForAFile(t *testing.T) {
	for name, read := range map[string]func(ctx context.Context, a *app, pipe string) error{
		"a text or a plan": func(ctx context.Context, a *app, pipe string) error {
			_, err := a.readFile(ctx, pipe, maxPlan)
			return err
		},
		"run import": func(ctx context.Context, a *app, pipe string) error {
			root := t.TempDir()
			if err := os.WriteFile(filepath.Join(root, "spec-kitty.toml"), []byte("schema = 1\n"), 0o644); err != nil {
				return err
			}
			p, err := runner.Open(runner.Options{Root: root})
			if err != nil {
				return err
			}
			defer p.Close()
			_, err = a.importRun(ctx, p, pipe)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			pipe := filepath.Join(t.TempDir(), "pipe")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			over, end := context.WithCancel(t.Context())
			end()
			if err := read(over, &app{}, pipe); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want the end of the call", err)
			}
			writer, err := os.OpenFile(pipe, os.O_WRONLY, 0) // ends the read that was left
			if err != nil {
				t.Fatal(err)
			}
			if err := writer.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
