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

// A pipe without a writer would hold an open for ever, a device a read; only
// regular files are opened, also behind a link.
func TestOnlyRegularFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	must(t, syscall.Mkfifo(at("pipe"), 0o644))
	must(t, os.Symlink("pipe", at("link")), os.Symlink("/dev/zero", at("device")), os.Symlink("none", at("nowhere")))
	socket, err := net.Listen("unix", at("socket"))
	must(t, err)
	defer socket.Close()
	inTime(t, func() {
		for _, name := range []string{"pipe", "link", "device", "socket"} {
			notRegular(t, durable.OS(), at(name))
		}
		if _, err := durable.OS().OpenFile(at("nowhere"), os.O_RDONLY, 0); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a link to nowhere: %v", err)
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
