package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// maxPlan is the greatest size of a saved plan, in bytes.
const maxPlan = 4 << 20

// mission is the mission that a call is about: the argument, the flag or the
// environment, in this order. Two that differ are refused.
func (a *app) mission(cmd *cobra.Command, argument, flag string) (string, error) {
	changed := cmd.Flags().Changed("mission")
	switch {
	case argument != "" && changed && argument != flag:
		return "", usage("name the mission once", "the argument names mission %q, --mission names %q", argument, flag)
	case argument != "":
		return argument, nil
	case changed && flag == "":
		return "", usage("name a mission by its folder, its number or the beginning of its id", "--mission is empty")
	case flag != "":
		return flag, nil
	}
	if named := a.getenv("SPEC_KITTY_MISSION"); named != "" {
		return named, nil
	}
	return "", usage("add --mission M, or set SPEC_KITTY_MISSION", "no mission is named")
}

func missionFlag(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "mission", "", "the mission `M`: its folder, number or the beginning of its id (default: SPEC_KITTY_MISSION)")
}

// text is a text given in a flag or in a file, "-" for stdin. given tells
// whether there is one.
type text struct{ name, value, file string }

func (t *text) flags(cmd *cobra.Command, name, what string) {
	t.name = name
	cmd.Flags().StringVar(&t.value, name, "", what)
	cmd.Flags().StringVar(&t.file, name+"-file", "", "the same, out of `FILE`; - is stdin")
}

func (t text) read(ctx context.Context, a *app, cmd *cobra.Command) (value string, given bool, err error) {
	inline, inFile := cmd.Flags().Changed(t.name), cmd.Flags().Changed(t.name+"-file")
	switch {
	case inline && inFile:
		return "", false, usage("leave one of them out", "--%s and --%s-file both give the text", t.name, t.name)
	case !inFile:
		return t.value, inline, nil
	}
	data, err := a.readFile(ctx, t.file, runner.MaxText+1)
	if err != nil {
		return "", false, unread("name a file that can be read", "--"+t.name+"-file: ", err)
	}
	value = plain(data)
	if strings.TrimSpace(value) == "" && t.name != "answer" { // an empty answer is judged by what is asked
		return "", false, usage("write the text into it, or leave the flag out", "--%s-file: %s is blank", t.name, t.file)
	}
	return value, true, nil
}

// plain takes a byte order mark, carriage returns and the last newline off.
func plain(data []byte) string {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	return strings.TrimSuffix(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
}

// readFile reads a file, "-" for stdin, up to limit bytes. A wait, for stdin or for
// whoever writes to a pipe, ends with the context.
func (a *app) readFile(ctx context.Context, name string, limit int64) ([]byte, error) {
	type result struct {
		data []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		data, err := a.readWhole(name, limit)
		done <- result{data, err}
	}()
	select {
	case r := <-done:
		return r.data, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (a *app) readWhole(name string, limit int64) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(io.LimitReader(a.in, limit))
	}
	file, err := openFile(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, limit))
}

// streamed tells whether a FILE may keep a reader waiting.
func streamed(name string) bool {
	info, err := os.Stat(name)
	return name == "-" || err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// openFile opens a file to read it, and nothing that is a folder.
func openFile(name string) (*os.File, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a folder", name)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// unread is the error of a file that the command line named and that cannot be read:
// not found where it is not there. The end of the call stays what it is.
func unread(next, where string, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	e := usage(next, "%s%v", where, err)
	if errors.Is(err, fs.ErrNotExist) {
		e.Code = runner.CodeNotFound
	}
	return e
}

// writeFile writes a whole file or none, durably. Only its owner may read it.
func writeFile(name string, data []byte) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return &os.PathError{Op: "write", Path: name, Err: os.ErrInvalid}
	}
	_ = durable.RemoveDeadTempsOf(durable.OS(), name)
	return durable.Replace(durable.OS(), name, data, 0o600)
}
