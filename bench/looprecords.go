package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/kernel/journal"
)

// loopRecords is the history of a loop that is fired each minute for a week.
const loopRecords = 10_000

// longLoops have such a history, one for the ticks and one for the operator.
func longLoops() []string { return []string{"long", "steered"} }

// age gives the long loops their history, and a view of it.
func (y *yard) age() error {
	for _, name := range longLoops() {
		if err := lengthenLoop(y.journal(name), loopRecords); err != nil {
			return err
		}
		if _, err := y.call(0, y.path, "loop", "pause", name); err != nil {
			return err
		}
	}
	return nil
}

func (y *yard) journal(name string) string {
	return filepath.Join(y.root, ".kittify", "step-runner", "loops", name, "loop.events.jsonl")
}

// lengthenLoop adds n firings that skipped to a loop's journal.
func lengthenLoop(path string, n int) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	at, err := lastRecord(file)
	if err != nil {
		return err
	}
	var lines []byte
	for range n {
		raw, err := loop.EncodeEvent(loop.Skipped{Reason: loop.SkipPaused, Detail: "paused by human:bench at 2026-01-02T03:04:05Z"})
		if err != nil {
			return err
		}
		line, digest, err := journal.Encode(journal.Record{Run: at.Run, Revision: at.Revision + 1, At: time.Now().UTC().Round(0),
			Actor: "human:bench", Kind: "claim", Prev: at.Digest, Events: []json.RawMessage{raw}})
		if err != nil {
			return err
		}
		lines = append(lines, line...)
		at.Revision, at.Digest = at.Revision+1, digest
	}
	_, err = file.WriteAt(lines, at.End)
	return err
}

func lastRecord(file *os.File) (journal.Position, error) {
	info, err := file.Stat()
	if err != nil {
		return journal.Position{}, err
	}
	r := journal.NewReader(file, info.Size(), journal.Position{}, 0)
	for {
		_, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r.Position(), nil
		}
		if err != nil {
			return r.Position(), fmt.Errorf("%s: %w", file.Name(), err)
		}
	}
}
