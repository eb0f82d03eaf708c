// Package load measures commits that are made one after the other, and hands
// the figures from a worker process to the benchmark that started it. It
// imports little, because the floor program is measured by how little it does.
package load

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"
)

// Result is what one worker did. Times are nanoseconds.
type Result struct {
	Done  int     `json:"done"`  // commits
	Took  int64   `json:"took"`  // from the first to the last
	Waits []int64 `json:"waits"` // for the lock, one for each commit
	Holds int64   `json:"holds"` // of the lock, all together
}

// Loop commits for the given time, at least once. The commit calls locked when
// it has the lock and unlocking right before it gives it back, from whichever
// goroutine does the work, and returns after that.
func Loop(length time.Duration, commit func(locked, unlocking func()) error) (Result, error) {
	var r Result
	var begun, got time.Time
	locked := func() {
		got = time.Now()
		r.Waits = append(r.Waits, got.Sub(begun).Nanoseconds())
	}
	unlocking := func() { r.Holds += time.Since(got).Nanoseconds() }
	first := time.Now()
	for r.Done == 0 || time.Since(first) < length {
		begun = time.Now()
		if err := commit(locked, unlocking); err != nil {
			return r, err
		}
		r.Done++
	}
	r.Took = time.Since(first).Nanoseconds()
	return r, nil
}

// Barrier says that this process is ready and waits until the benchmark lets
// all of them go.
func Barrier() error {
	if _, err := fmt.Println("ready"); err != nil {
		return err
	}
	_, err := io.ReadFull(os.Stdin, make([]byte, 1))
	return err
}

// Print gives the result to the benchmark.
func (r Result) Print() error { return json.NewEncoder(os.Stdout).Encode(r) }
