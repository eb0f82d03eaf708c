package tick

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

const usageName = "usage.json"

// maxUsage bounds the file, bytes.
const maxUsage = 64 << 10

// Told is what work tells of itself, in the file that SPEC_KITTY_LOOP_USAGE names
// or by `spec-kitty loop beat`. Each number is the run's total so far; what is
// left out is unknown, which is not zero.
type Told struct {
	Cost     *float64 `json:"cost,omitempty"`
	Tokens   *int64   `json:"tokens,omitempty"`
	Context  *string  `json:"context,omitempty"` // what is left of it, such as "40%"
	Progress string   `json:"progress,omitempty"`
}

// usage holds what was told against what it may be.
func (t Told) usage() (loop.Usage, error) {
	var u loop.Usage
	if t.Cost != nil {
		cost, ok := loop.MoneyOf(*t.Cost)
		if !ok {
			return u, fmt.Errorf("cost %v is no amount from 0 to %v", *t.Cost, loop.MaxMoney)
		}
		u.Cost = &cost
	}
	if t.Tokens != nil {
		if *t.Tokens < 0 {
			return u, fmt.Errorf("tokens %d is below zero", *t.Tokens)
		}
		u.Tokens = t.Tokens
	}
	if t.Context != nil {
		left, err := percent(*t.Context)
		if err != nil {
			return u, err
		}
		u.Context = &left
	}
	return u, nil
}

func percent(text string) (int, error) {
	digits, ok := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 0 || n > 100 {
		return 0, fmt.Errorf("context %q is not a percentage from 0%% to 100%%", text)
	}
	return n, nil
}

// usageOf is what work told in its file, of which raw is nil where there is none. What
// cannot be read is unknown; the error says why.
func usageOf(raw []byte, err error) (loop.Usage, error) {
	told, err := toldIn(raw, err)
	if err == nil {
		var u loop.Usage
		if u, err = told.usage(); err == nil {
			return u, nil
		}
	}
	return loop.Usage{}, fmt.Errorf("%s cannot be used: %w", usageName, err)
}

func toldIn(raw []byte, err error) (Told, error) {
	var told Told
	switch {
	case err != nil || raw == nil:
	case len(raw) > maxUsage:
		err = fmt.Errorf("it has more than %d bytes", maxUsage)
	default:
		err = json.Unmarshal(raw, &told)
	}
	return told, err
}

// beatWait is how long a beat waits for another one of the same run.
const beatWait = 10 * time.Second

// mergeUsage lays what was told over what was told before. Several processes of a run
// may tell at once: one after the other reads and writes, so that none is forgotten.
func mergeUsage(file string, told Told) error {
	err := locks.At(file+".lock").Do(context.Background(), beatWait, func(*locks.Held) error { return merge(file, told) })
	if errors.As(err, new(*locks.TimeoutError)) {
		return &loop.Refusal{Code: LockTimeout, Message: err.Error()}
	}
	return err
}

func merge(file string, told Told) error {
	all, err := toldIn(readFile(filepath.Split(file)))
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", file, err)
	}
	if told.Cost != nil {
		all.Cost = told.Cost
	}
	if told.Tokens != nil {
		all.Tokens = told.Tokens
	}
	if told.Context != nil {
		all.Context = told.Context
	}
	if told.Progress != "" {
		all.Progress = told.Progress
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return err
	}
	_ = durable.RemoveDeadTempsOf(durable.OS(), file)
	return durable.Publish(durable.OS(), file, append(raw, '\n'), 0o644)
}

// progressIn is what a run told of its progress.
func progressIn(dir string) string {
	told, err := toldIn(readFile(dir, usageName))
	if err != nil {
		return ""
	}
	return told.Progress
}
