package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spec-kitty/step-runner/host/runner"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// writePlan writes a saved plan, whole and durably. It takes the place of another
// plan, or of an empty file, and of nothing else: what the name leads to may be
// anybody's work, or the run's own journal.
func writePlan(project *runner.Project, name string, plan []byte) error {
	if err := project.MayWrite(name); err != nil {
		return err
	}
	if err := replaceable(name); err != nil {
		return err
	}
	_ = durable.RemoveDeadTempsOf(durable.OS(), name)
	err := durable.ReplaceIf(durable.OS(), name, plan, 0o600, func() error { return replaceable(name) })
	if known := new(runner.Error); err == nil || errors.As(err, &known) {
		return err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return usage("name a file in a folder that is there", "the plan could not be written: %v", err)
	}
	return &runner.Error{Code: runner.CodeNotRecorded, Message: "the plan could not be written: " + err.Error(),
		NextStep: "look at the file's place, its permissions and the room there, then call again", File: name, Err: err}
}

// replaceable is an error unless a plan may take the place of what has a name.
func replaceable(name string) error {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil // there is none, or the write says what is wrong
	case !info.Mode().IsRegular():
		return usage("name a file that can be written", "the plan could not be written: %s is %s, not a file", name, durable.What(info.Mode()))
	case info.Size() == 0:
		return nil
	}
	file, err := openFile(name)
	if err == nil {
		defer file.Close()
		var there []byte
		if there, err = io.ReadAll(io.LimitReader(file, maxPlan)); err == nil && runner.IsPlan(there) {
			return nil
		}
	}
	why := "is there already, and is no saved plan"
	if err != nil {
		why = fmt.Sprintf("is there already, and cannot be read: %v", err)
	}
	return &runner.Error{Code: runner.CodeAlreadyExists, Message: name + " " + why + "; nothing was written",
		NextStep: "name another file, or move that one away", File: name, Err: err}
}
