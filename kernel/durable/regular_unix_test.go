//go:build unix

package durable_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/kernel/durable"
)

// A pipe without a writer would hold an open for ever, a device a read, and a link
// may lead anywhere; only regular files are opened, and none behind a link.
func TestOnlyRegularFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	must(t, syscall.Mkfifo(at("pipe"), 0o644))
	must(t, os.Symlink("pipe", at("link")), os.Symlink("/dev/zero", at("device")), os.Symlink("none", at("nowhere")),
		os.WriteFile(at("file"), []byte("kept"), 0o644), os.Symlink("file", at("alias")))
	socket, err := net.Listen("unix", at("socket"))
	must(t, err)
	defer socket.Close()
	inTime(t, func() {
		for _, name := range []string{"pipe", "link", "device", "socket", "nowhere", "alias"} {
			notRegular(t, durable.OS(), at(name))
		}
		for name, flag := range map[string]int{"nowhere": os.O_RDWR | os.O_CREATE, "alias": os.O_RDWR | os.O_TRUNC} {
			if _, err := durable.OS().OpenFile(at(name), flag, 0o644); !errors.As(err, new(*durable.NotRegularError)) {
				t.Errorf("%s with %#x: %v", name, flag, err)
			}
		}
		if _, err := os.Lstat(at("none")); !errors.Is(err, fs.ErrNotExist) || string(read(t, durable.OS(), at("file"))) != "kept" {
			t.Errorf("something was written through a link: %v", err)
		}
		if err := durable.OS().SyncDir(at("pipe")); err == nil {
			t.Error("a pipe was synced as a folder")
		}
		for name, w := range map[string]write{"pipe": durable.Replace, "link": durable.Publish} {
			must(t, w(durable.OS(), at(name), []byte("text"), 0o644))
			if got := read(t, durable.OS(), at(name)); string(got) != "text" {
				t.Errorf("%s: %q", name, got)
			}
		}
	})
}

// inTime fails the test where work hangs.
func inTime(t *testing.T, work func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		work()
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("it hangs")
	}
}
