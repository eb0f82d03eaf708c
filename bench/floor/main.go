// Command floor does what any program must do that takes a state one step
// further and keeps a journal: lock, read and decode the state, append a
// record at its offset and sync it, write the new state under a temporary
// name, rename it, unlock. What it takes is what the benchmark's other figures
// are multiples of.
//
//	floor DIR [SECONDS]
//
// makes one step in DIR, or steps for so long after a barrier. It takes the
// lock through kernel/locks, as everything here must; that takes no longer than
// the system calls alone.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spec-kitty/step-runner/bench/internal/load"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// state is what a step reads and writes. Record is what it appends.
type state struct {
	Revision uint64            `json:"revision"`
	Length   int64             `json:"length"`
	Fields   map[string]string `json:"fields"`
	Record   string            `json:"record"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch len(args) {
	case 1:
		return step(args[0], func() {}, func() {})
	case 2:
		seconds, err := strconv.ParseFloat(args[1], 64)
		if err != nil {
			return err
		}
		return steps(args[0], time.Duration(seconds*float64(time.Second)))
	}
	return fmt.Errorf("usage: floor DIR [SECONDS]")
}

func steps(dir string, length time.Duration) error {
	if err := load.Barrier(); err != nil {
		return err
	}
	r, err := load.Loop(length, func(locked, unlocking func()) error { return step(dir, locked, unlocking) })
	if err != nil {
		return err
	}
	return r.Print()
}

func step(dir string, locked, unlocking func()) error {
	lock := locks.At(filepath.Join(dir, "state.json.lock"))
	return lock.Do(context.Background(), time.Minute, func(*locks.Held) error {
		locked()
		defer unlocking()
		return advance(dir)
	})
}

func advance(dir string) error {
	path := filepath.Join(dir, "state.json")
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var s state
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	if err := record(filepath.Join(dir, "journal"), &s); err != nil {
		return err
	}
	if raw, err = json.Marshal(s); err != nil {
		return err
	}
	temp := path + ".tmp-" + strconv.FormatUint(s.Revision, 16)
	if err := os.WriteFile(temp, raw, 0o644); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

// record appends a line and makes it durable.
func record(path string, s *state) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	s.Revision++
	n, err := f.WriteAt(append(strconv.AppendUint(nil, s.Revision, 10), s.Record...), s.Length)
	if err != nil {
		return err
	}
	s.Length += int64(n)
	return f.Sync()
}
