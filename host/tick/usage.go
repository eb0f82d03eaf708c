package tick

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/kernel/durable"
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

// usage reads what the work told so far. What cannot be read is unknown, with the
// reason.
func (r *runFolder) usage() (loop.Usage, string) {
	raw, err := r.read(usageName)
	if errors.Is(err, fs.ErrNotExist) {
		return loop.Usage{}, ""
	}
	var u loop.Usage
	if err == nil {
		u, err = parseUsage(raw)
	}
	if err != nil {
		return loop.Usage{}, usageName + " cannot be used: " + err.Error()
	}
	return u, ""
}

func parseUsage(raw []byte) (loop.Usage, error) {
	var told Told
	if len(raw) > maxUsage {
		return loop.Usage{}, fmt.Errorf("it has more than %d bytes", maxUsage)
	}
	if err := json.Unmarshal(raw, &told); err != nil {
		return loop.Usage{}, err
	}
	return told.usage()
}

func taken(u loop.Usage, time time.Duration) loop.Usage {
	u.Time = loop.Span(time)
	return u
}

// mergeUsage lays what was told over what was told before.
func mergeUsage(file string, told Told) error {
	var all Told
	raw, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
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
	if raw, err = json.Marshal(all); err != nil {
		return err
	}
	_ = durable.RemoveDeadTempsOf(durable.OS(), file)
	return durable.Publish(durable.OS(), file, append(raw, '\n'), 0o644)
}

// progressIn is what a run told of its progress.
func progressIn(dir string) string {
	raw, err := readFile(dir, usageName)
	var told Told
	if err != nil || json.Unmarshal(raw, &told) != nil {
		return ""
	}
	return told.Progress
}
