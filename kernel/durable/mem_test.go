package durable_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/kernel/durable"
)

func open(t testing.TB, d durable.Disk, path string) durable.File {
	t.Helper()
	f, err := d.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func writeAt(t testing.TB, f durable.File, off int64, data string) {
	t.Helper()
	if n, err := f.WriteAt([]byte(data), off); n != len(data) || err != nil {
		t.Fatal(n, err)
	}
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// script answers a crash's questions in order.
func script(answers ...int) durable.Chooser {
	return func(n int) int {
		if len(answers) == 0 {
			return 0
		}
		a := answers[0]
		answers = answers[1:]
		return min(a, n-1)
	}
}

// What is not synced is lost or there, sector by sector.
func TestCrashSectors(t *testing.T) {
	mem := durable.NewMem()
	f := open(t, mem, "/f")
	writeAt(t, f, 0, "aaaabbbbcccc")
	must(t, f.Sync(), mem.SyncDir("/"))
	writeAt(t, f, 2, "XXXXXX") // sectors of 4: XX, XXXX
	writeAt(t, f, 12, "dd")
	for _, tt := range []struct {
		choose durable.Chooser
		want   string
	}{
		{durable.Nothing, "aaaabbbbcccc"},
		{durable.Everything, "aaXXXXXXccccdd"},
		{script(1, 0, 0), "aaXXbbbbcccc"},
		{script(0, 1, 0), "aaaaXXXXcccc"},
		{script(0, 0, 1), "aaaabbbbccccdd"},
		{script(0, 0, 0, 1), "aaaabbbbcccc\x00\x00"}, // its length, not its data
	} {
		if got := read(t, mem.Crash(4, tt.choose), "/f"); string(got) != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	if got := read(t, mem, "/f"); string(got) != "aaXXXXXXccccdd" {
		t.Errorf("the disk itself: %q", got)
	}
}

// A length that was cut is a change like a write.
func TestCrashTruncate(t *testing.T) {
	mem := durable.NewMem()
	f := open(t, mem, "/f")
	writeAt(t, f, 0, "abcdef")
	must(t, f.Sync(), mem.SyncDir("/"), f.Truncate(2))
	writeAt(t, f, 2, "XY")
	for _, tt := range []struct {
		choose durable.Chooser
		want   string
	}{
		{durable.Nothing, "abcdef"}, {durable.Everything, "abXY"}, {script(0, 1), "abXYef"}, {script(1, 0), "ab"},
	} {
		if got := read(t, mem.Crash(8, tt.choose), "/f"); string(got) != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// Names are durable apart from content.
func TestCrashNames(t *testing.T) {
	mem := durable.NewMem()
	f := open(t, mem, "/new")
	writeAt(t, f, 0, "x")
	must(t, f.Sync())
	if _, err := mem.Crash(512, durable.Nothing).Stat("/new"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a name that was not synced: %v", err)
	}
	must(t, mem.SyncDir("/"), mem.Rename("/new", "/f"))
	lost, kept := mem.Crash(512, durable.Nothing), mem.Crash(512, durable.Everything)
	if got := read(t, lost, "/new"); string(got) != "x" {
		t.Errorf("lost rename: %q", got)
	}
	if _, err := kept.Stat("/new"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("kept rename: %v", err)
	}
	must(t, mem.Remove("/f"), mem.SyncDir("/"))
	if _, err := mem.Crash(512, durable.Nothing).Stat("/f"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed: %v", err)
	}
}

// A durable rename does not make content durable: the classic empty file.
func TestCrashRenameWithoutSync(t *testing.T) {
	mem := durable.NewMem()
	writeAt(t, open(t, mem, "/t"), 0, "data")
	must(t, mem.Rename("/t", "/f"), mem.SyncDir("/"))
	if got := read(t, mem.Crash(512, durable.Nothing), "/f"); len(got) != 0 {
		t.Errorf("content %q", got)
	}
}

// After a failed sync a further one proves nothing for what was written
// before, and everything for what is written again.
func TestFailedSyncLosesPages(t *testing.T) {
	mem := durable.NewMem()
	must(t, open(t, mem, "/f").Sync(), mem.SyncDir("/"))
	failed := false
	faulty := &durable.Faulty{Disk: mem, Fail: func(_ int, op durable.Op) error {
		if op.Kind == "sync" && !failed {
			failed = true
			return durable.ErrInjected
		}
		return nil
	}}
	f := open(t, faulty, "/f")
	writeAt(t, f, 0, "data")
	if err := f.Sync(); err == nil {
		t.Fatal("the sync passed")
	}
	must(t, f.Sync())
	if got := read(t, mem.Crash(512, durable.Everything), "/f"); len(got) != 0 {
		t.Errorf("after a second sync: %q", got)
	}
	if got := read(t, mem, "/f"); string(got) != "data" {
		t.Errorf("programs see %q", got)
	}
	writeAt(t, f, 0, "data")
	must(t, f.Sync())
	if got := read(t, mem.Crash(512, durable.Nothing), "/f"); string(got) != "data" {
		t.Errorf("written again: %q", got)
	}
}

// The disk in memory answers as the real one does.
func TestMemIsLikeOS(t *testing.T) {
	disks(t, func(t *testing.T, d durable.Disk, dir string) {
		p := func(name string) string { return dir + "/" + name }
		must(t, d.Mkdir(p("d"), 0o755), d.Mkdir(p("d/e"), 0o755))
		f := open(t, d, p("d/f"))
		writeAt(t, f, 3, "x")
		buf := make([]byte, 8)
		if n, err := f.ReadAt(buf, 0); n != 4 || err != io.EOF || string(buf[:4]) != "\x00\x00\x00x" {
			t.Errorf("read %d, %v", n, err)
		}
		if n, err := f.ReadAt(buf, 9); n != 0 || err != io.EOF {
			t.Errorf("read behind the end: %d, %v", n, err)
		}
		must(t, f.Truncate(6))
		if size, err := f.Size(); size != 6 || err != nil {
			t.Errorf("size %d, %v", size, err)
		}
		for name, err := range map[string]error{
			"mkdir": d.Mkdir(p("d"), 0o755),
			"excl":  second(d.OpenFile(p("d/f"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)),
		} {
			if !errors.Is(err, fs.ErrExist) {
				t.Errorf("%s: %v", name, err)
			}
		}
		for name, err := range map[string]error{
			"open":    second(d.OpenFile(p("none"), os.O_RDWR, 0)),
			"create":  second(d.OpenFile(p("none/f"), os.O_RDWR|os.O_CREATE, 0o644)),
			"rename":  d.Rename(p("none"), p("x")),
			"remove":  d.Remove(p("none")),
			"mkdir":   d.Mkdir(p("none/d"), 0o755),
			"readdir": second(d.ReadDir(p("none"))),
			"stat":    second(d.Stat(p("none"))),
			"syncdir": d.SyncDir(p("none")),
		} {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := d.Remove(p("d")); err == nil {
			t.Error("removed a folder that is not empty")
		}
		entries, err := d.ReadDir(p("d"))
		if err != nil || len(entries) != 2 || entries[0].Name() != "e" || !entries[0].IsDir() || entries[1].Name() != "f" {
			t.Errorf("entries %v, %v", entries, err)
		}
		must(t, f.Close(), d.RemoveAll(p("d")), d.RemoveAll(p("none")), d.SyncDir(dir))
		if _, err := d.Stat(p("d/f")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("after it was removed: %v", err)
		}
	})
}

func second[T any](_ T, err error) error { return err }

func TestSharedIsQuietHere(t *testing.T) {
	if kind := durable.Shared(t.TempDir()); kind != "" && os.Getenv("CI") == "" {
		t.Logf("the temporary folder lies on %s", kind)
	}
	if kind := durable.Shared("/does/not/exist"); kind != "" {
		t.Errorf("a missing folder is %q", kind)
	}
}

// A file that goes from one folder to another is, after a crash, under its old
// name, its new one or both: each folder is synced by itself.
func TestRenameBetweenFolders(t *testing.T) {
	for name, c := range map[string]struct {
		sync []string
		want string
	}{
		"no folder synced": {nil, "from"},
		"target synced":    {[]string{"/to"}, "from to"},
		"both synced":      {[]string{"/to", "/from"}, "to"},
	} {
		t.Run(name, func(t *testing.T) {
			d := durable.NewMem()
			for _, dir := range []string{"/from", "/to"} {
				if err := durable.MkdirAll(d, dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := durable.Replace(d, "/from/a", []byte("x"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := d.Rename("/from/a", "/to/b"); err != nil {
				t.Fatal(err)
			}
			for _, dir := range c.sync {
				if err := d.SyncDir(dir); err != nil {
					t.Fatal(err)
				}
			}
			left := d.Crash(512, durable.Nothing)
			var have []string
			for _, path := range []string{"/from/a", "/to/b"} {
				if raw, err := durable.ReadFile(left, path, 9); err == nil && string(raw) == "x" {
					have = append(have, path[1:len(path)-2])
				}
			}
			if got := strings.Join(have, " "); got != c.want {
				t.Errorf("it is in %q, want %q", got, c.want)
			}
		})
	}
}
