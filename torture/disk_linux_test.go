package torture

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// badDisk is a small disk with a project on it, that is full at times and mounted
// read-only at others.
type badDisk struct {
	t       *testing.T
	dir     string
	ballast string
	full    int // how often it was
	frozen  int // and read-only
}

// mountBad mounts one. Only who may mount can have it.
func mountBad(t *testing.T) *badDisk {
	t.Helper()
	d := &badDisk{t: t, dir: t.TempDir()}
	if err := unix.Mount("small", d.dir, "tmpfs", 0, "size=16m"); err != nil {
		t.Skipf("no disk can be mounted here: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(d.dir, unix.MNT_DETACH) })
	d.ballast = filepath.Join(d.dir, "ballast")
	return d
}

// spoil does its worst until it is told to stop, and leaves the disk as it was.
func (d *badDisk) spoil(rng *rand.Rand, stop <-chan struct{}) {
	pause := func(most int) bool { // ms
		select {
		case <-stop:
			return false
		case <-time.After(time.Duration(rng.IntN(most)) * time.Millisecond):
			return true
		}
	}
	for most := 100; pause(most); most = min(2*most, 600) {
		if d.full <= d.frozen {
			d.fill()
			pause(150)
			d.empty()
		} else if d.freeze(stop) {
			pause(150)
			d.thaw()
		}
	}
}

// fill takes all the room that is left.
func (d *badDisk) fill() {
	f, err := os.OpenFile(d.ballast, os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		for chunk := bytes.Repeat([]byte("x"), 64<<10); err == nil; {
			_, err = f.Write(chunk)
		}
		f.Close()
	}
	if !errors.Is(err, unix.ENOSPC) {
		d.t.Errorf("fill the disk: %v", err)
	}
	d.full++
}

func (d *badDisk) empty() {
	if err := os.Remove(d.ballast); err != nil && !errors.Is(err, os.ErrNotExist) {
		d.t.Errorf("empty the disk: %v", err)
	}
}

// freeze mounts it read-only, in a moment at which no file is open to be written.
func (d *badDisk) freeze(stop <-chan struct{}) bool {
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
		err := unix.Mount("", d.dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, "")
		switch {
		case err == nil:
			d.frozen++
			return true
		case !errors.Is(err, unix.EBUSY):
			d.t.Errorf("mount it read-only: %v", err)
			return false
		}
		select {
		case <-stop:
			return false
		case <-time.After(200 * time.Microsecond):
		}
	}
	return false
}

func (d *badDisk) thaw() {
	if err := unix.Mount("", d.dir, "", unix.MS_REMOUNT, ""); err != nil {
		d.t.Errorf("mount it writable: %v", err)
	}
}

// P3, field case 12, row 43: the same on a disk that is full at times, and at others is
// mounted read-only under the agents, which are killed all the while. Reading works
// throughout; what could not be recorded was told so, and left nothing.
func TestTortureOnBadDisk_P3_Case12_Row43(t *testing.T) {
	t.Parallel()
	d := mountBad(t)
	lg := newLog(project(t, d.dir))
	stop := make(chan struct{})
	var spoiler sync.WaitGroup
	spoiler.Go(func() { d.spoil(rand.New(rand.NewPCG(*seed, 99)), stop) })
	lg.torment(t, func(began time.Time) bool { return time.Since(began) < *duration || lg.unproven(began) })
	close(stop)
	spoiler.Wait()
	lg.judge(t)
	t.Logf("the disk was full %d times, read-only %d times", d.full, d.frozen)
	if d.full == 0 || d.frozen == 0 {
		t.Error("so nothing was proven")
	}
}
