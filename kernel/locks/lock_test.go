package locks_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/kernel/locks"
)

// long is a wait that no test reaches.
const long = 20 * time.Second

func lockPath(t *testing.T) string { return filepath.Join(t.TempDir(), "state.json.lock") }

// hold keeps the lock until the returned function is called, which gives the
// holder's error.
func hold(t *testing.T, l *locks.Lock) (release func() error) {
	t.Helper()
	held, free, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- l.Do(context.Background(), long, func(*locks.Held) error {
			close(held)
			<-free
			return nil
		})
	}()
	<-held
	return func() error {
		close(free)
		return <-done
	}
}

// US3.1: while it is held elsewhere, the work waits. The holder writes last
// before it lets go and the waiter reads first, so the order needs no clock,
// and with the lock out it is also a race.
func TestWaitsWhileHeld(t *testing.T) {
	path := lockPath(t)
	order := ""
	waiting := make(chan error, 1)
	err := locks.At(path).Do(t.Context(), long, func(*locks.Held) error {
		go func() {
			waiting <- locks.At(path).Do(t.Context(), long, func(*locks.Held) error {
				order += "second"
				return nil
			})
		}()
		// Give the second one every chance to come in wrongly.
		for range 100 {
			runtime.Gosched()
		}
		order += "first "
		return nil
	})
	if err := errors.Join(err, <-waiting); err != nil || order != "first second" {
		t.Errorf("order %q, %v", order, err)
	}
}

// SC-003 (iv): red with the lock out.
func TestExcludes(t *testing.T) {
	const workers, each = 16, 50
	path := lockPath(t)
	inside, count := 0, 0
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			l := locks.At(path)
			for range each {
				err := l.Do(t.Context(), long, func(*locks.Held) error {
					if inside++; inside != 1 {
						return fmt.Errorf("%d inside", inside)
					}
					count++
					inside--
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if count != workers*each {
		t.Errorf("count %d", count)
	}
}

func TestOneFileByTwoPaths(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := os.Mkdir(real, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err)
	}
	release := hold(t, locks.At(filepath.Join(real, "lock")))
	err := locks.At(filepath.Join(link, "lock")).Do(t.Context(), 0, func(*locks.Held) error { return nil })
	var timeout *locks.TimeoutError
	if !errors.As(err, &timeout) {
		t.Errorf("by the other path: %v", err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}

func TestTimeout(t *testing.T) {
	path := lockPath(t)
	release := hold(t, locks.At(path))
	err := locks.At(path).Do(t.Context(), time.Millisecond, func(*locks.Held) error {
		t.Error("the work ran")
		return nil
	})
	var timeout *locks.TimeoutError
	if !errors.As(err, &timeout) || timeout.Path != path || timeout.Wait != time.Millisecond {
		t.Errorf("error %v", err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	// The lock that came late was given back: the next one gets it.
	if err := locks.At(path).Do(t.Context(), long, func(*locks.Held) error { return nil }); err != nil {
		t.Error(err)
	}
}

func TestContextEnds(t *testing.T) {
	path := lockPath(t)
	release := hold(t, locks.At(path))
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan error, 1)
	go func() {
		got <- locks.At(path).Do(ctx, long, func(*locks.Held) error { return errors.New("the work ran") })
	}()
	cancel()
	if err := <-got; err != context.Canceled {
		t.Errorf("error %v", err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	if err := locks.At(path).Do(ctx, long, func(*locks.Held) error { return errors.New("the work ran") }); err != context.Canceled {
		t.Errorf("with a context that ended before: %v", err)
	}
}

// Once the work has begun in the waiting goroutine, its result is the call's,
// also when the context ends meanwhile.
func TestBegunWorkIsWaitedFor(t *testing.T) {
	path := lockPath(t)
	release := hold(t, locks.At(path))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	begun, want := make(chan struct{}), errors.New("the work's own")
	got := make(chan error, 1)
	go func() {
		got <- locks.At(path).Do(ctx, long, func(*locks.Held) error {
			close(begun)
			<-ctx.Done()
			return want
		})
	}()
	// Once that one waits in the queue, let it in, then end its context.
	if err := release(); err != nil {
		t.Error(err)
	}
	<-begun
	cancel()
	if err := <-got; err != want {
		t.Errorf("error %v", err)
	}
}

func TestResultAndPanic(t *testing.T) {
	l := locks.At(lockPath(t))
	want := errors.New("mine")
	if err := l.Do(t.Context(), 0, func(*locks.Held) error { return want }); err != want {
		t.Errorf("error %v", err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is gone")
			}
		}()
		_ = l.Do(t.Context(), 0, func(*locks.Held) error { panic("x") })
	}()
	if err := l.Do(t.Context(), 0, func(*locks.Held) error { return nil }); err != nil {
		t.Errorf("after a panic: %v", err)
	}
}

// A goroutine that ends inside the work gives the lock back and answers.
func TestWorkEndsItsGoroutine(t *testing.T) {
	path := lockPath(t)
	release := hold(t, locks.At(path))
	got := make(chan error, 1)
	go func() {
		// Where it did not have to wait, the work ends this goroutine.
		err := errors.New("ended with its work")
		defer func() { got <- err }()
		err = locks.At(path).Do(t.Context(), long, func(*locks.Held) error {
			runtime.Goexit()
			return nil
		})
	}()
	if err := release(); err != nil {
		t.Error(err)
	}
	select {
	case err := <-got:
		if err == nil {
			t.Error("no error")
		}
	case <-time.After(long): // the test is stuck, nothing is proven by time
		t.Error("the caller waits for ever")
	}
}

// A panic of work that had to wait is met by the caller, whose process can say
// something about it, and the lock is given back.
func TestPanicReachesTheWaitingCaller(t *testing.T) {
	path := lockPath(t)
	release := hold(t, locks.At(path))
	met := make(chan any, 1)
	go func() {
		defer func() { met <- recover() }()
		_ = locks.At(path).Do(t.Context(), long, func(*locks.Held) error { panic("x") })
	}()
	if err := release(); err != nil {
		t.Error(err)
	}
	if got := <-met; got != "x" {
		t.Errorf("the caller met %v", got)
	}
	if err := locks.At(path).Do(t.Context(), long, func(*locks.Held) error { return nil }); err != nil {
		t.Errorf("after a panic: %v", err)
	}
}

// E3, Row 28: a lock file that a crash left, with any content and of any age, is
// used and left as it is.
func TestOldLockFile_Row28(t *testing.T) {
	path := lockPath(t)
	junk := []byte("pid 4711, started 1970\x00\xff")
	if err := os.WriteFile(path, junk, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Unix(0, 0), time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	if err := locks.At(path).Do(t.Context(), 0, func(h *locks.Held) error { return h.Same() }); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != string(junk) {
		t.Errorf("content %q, %v", got, err)
	}
}

func TestFileIsMadeFolderIsNot(t *testing.T) {
	path := lockPath(t)
	if err := locks.At(path).Do(t.Context(), 0, func(*locks.Held) error { return nil }); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() != 0 {
		t.Fatalf("after the work: %v, %v", info, err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	gone := filepath.Join(filepath.Dir(path), "none", "lock")
	err = locks.At(gone).Do(t.Context(), 0, func(*locks.Held) error { return nil })
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("in a missing folder: %v", err)
	}
}

// E4, Row 29: a lock file that is removed or replaced under the lock, or a folder,
// is noticed, and who comes next gets the new one.
func TestReplaced_Row29(t *testing.T) {
	changes := map[string]func(dir string) error{
		"lock file removed": func(dir string) error { return os.Remove(filepath.Join(dir, "lock")) },
		"folder moved":      func(dir string) error { return os.Rename(dir, dir+".old") },
		"folder replaced": func(dir string) error {
			return errors.Join(os.Rename(dir, dir+".old"), os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "lock"), nil, 0o600))
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" {
				t.Skip("Windows does not let go of files that are open")
			}
			dir := filepath.Join(t.TempDir(), "run")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			err := locks.At(filepath.Join(dir, "lock")).Do(t.Context(), 0, func(h *locks.Held) error {
				return errors.Join(h.Same(), change(dir), h.Same())
			})
			var replaced *locks.ReplacedError
			if !errors.As(err, &replaced) {
				t.Errorf("error %v", err)
			}
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := locks.At(filepath.Join(dir, "lock")).Do(t.Context(), 0, func(h *locks.Held) error { return h.Same() }); err != nil {
				t.Errorf("the next one: %v", err)
			}
		})
	}
}

func TestLocal(t *testing.T) {
	at := locks.Local()
	release := hold(t, at("a"))
	var timeout *locks.TimeoutError
	if err := at("a").Do(t.Context(), 0, func(*locks.Held) error { return nil }); !errors.As(err, &timeout) {
		t.Errorf("held: %v", err)
	}
	if err := at("b").Do(t.Context(), 0, func(h *locks.Held) error { return h.Same() }); err != nil {
		t.Errorf("another path: %v", err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}
