package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"time"
)

// fillLater starts a child of low priority that compiles the module into the
// cache while this call goes on, and after it: nobody waits for it. It is in a
// process group of its own but in our session (with its own one the scheduler
// would give it half of a single core), and inherits nothing.
func (h *Host) fillLater(p Plugin, e entry) {
	h.reap(false)
	if !e.claim(time.Now()) {
		return
	}
	e.sweep(time.Now())
	j := job{Mode: fill, Background: true, Name: p.Name, Path: p.Path, SHA256: p.SHA256, Cache: e.dir, Hint: e.hint, Limits: p.Limits}
	if j.Path == "" {
		copied, err := copyOf(p.Wasm, filepath.Dir(e.dir))
		if err != nil {
			return
		}
		j.Path, j.Remove = copied, true
	}
	pid, err := startFiller(h.exe(), j)
	if err != nil {
		if j.Remove {
			_ = os.Remove(j.Path)
		}
		_ = os.Remove(e.hint)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fillers = append(h.fillers, pid)
}

// copyOf writes the module where the filler finds it, and removes it.
func copyOf(wasm []byte, dir string) (string, error) {
	f, err := os.CreateTemp(dir, "module-*.tmp")
	if err != nil {
		return "", err
	}
	_, err = f.Write(wasm)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return f.Name(), err
}

// startFiller starts the child and writes its job, which is small enough for
// the pipe to take at once.
func startFiller(exe string, j job) (int, error) {
	in, out, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer closeAll(in, out)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer closeAll(null)
	proc, err := startChild(exe, j, []*os.File{in, null, null})
	if err != nil {
		return 0, err
	}
	pid := proc.Pid
	_ = proc.Release()
	return pid, writeFrame(out, frameJob, j)
}

// reap collects fillers that have ended, or waits for all of them.
func (h *Host) reap(wait bool) {
	h.mu.Lock()
	pids := h.fillers
	h.fillers = nil
	h.mu.Unlock()
	pids = slices.DeleteFunc(pids, func(pid int) bool { return reapFiller(pid, wait) })
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fillers = append(h.fillers, pids...)
}
