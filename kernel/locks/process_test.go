package locks_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/spec-kitty/step-runner/kernel/locks"
)

const heldPath = "LOCKS_TEST_HOLD"

// TestMain is also the second process: it takes the lock, says so, and lets go
// when its input ends.
func TestMain(m *testing.M) {
	path := os.Getenv(heldPath)
	if path == "" {
		goleak.VerifyTestMain(m)
		return
	}
	err := locks.At(path).Do(context.Background(), time.Minute, func(*locks.Held) error {
		fmt.Println("held")
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// holder is another process that holds the lock.
func holder(t *testing.T, path string) (cmd *exec.Cmd, letGo io.Closer) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), heldPath+"="+path)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("the holder says %q, %v", line, err)
	}
	return cmd, in
}

// Edge: the bound on waiting holds against another process too.
func TestHeldByAnotherProcess(t *testing.T) {
	path := lockPath(t)
	cmd, letGo := holder(t, path)
	var timeout *locks.TimeoutError
	err := locks.At(path).Do(t.Context(), time.Millisecond, func(*locks.Held) error { return errors.New("the work ran") })
	if !errors.As(err, &timeout) {
		t.Errorf("while it is held: %v", err)
	}
	got := make(chan error, 1)
	go func() { got <- locks.At(path).Do(t.Context(), long, func(*locks.Held) error { return nil }) }()
	if err := errors.Join(letGo.Close(), cmd.Wait(), <-got); err != nil {
		t.Errorf("after it was let go: %v", err)
	}
}

// A holder that is killed lets go.
func TestHolderKilled(t *testing.T) {
	path := lockPath(t)
	cmd, _ := holder(t, path)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := locks.At(path).Do(t.Context(), long, func(*locks.Held) error { return nil }); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // it was killed
}
