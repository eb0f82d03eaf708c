package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

func treeCommand(ts *testscript.TestScript, _ bool, args []string) {
	s := stateOf(ts)
	s.treeDir = ts.MkAbs(args[0])
	text, err := treeText(s.treeDir)
	ts.Check(err)
	s.treeText = text
}

func sametreeCommand(ts *testscript.TestScript, neg bool, _ []string) {
	s := stateOf(ts)
	text, err := treeText(s.treeDir)
	ts.Check(err)
	if (text == s.treeText) == neg {
		ts.Fatalf("%s was:\n%s\nand is:\n%s", s.treeDir, s.treeText, text)
	}
}

// treeText lists a folder: name, mode, time of change and digest of each file.
func treeText(dir string) (string, error) {
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%s %v %d", path, info.Mode(), info.ModTime().UnixNano())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&out, " %x", sha256.Sum256(data))
		}
		out.WriteString("\n")
		return nil
	})
	return out.String(), err
}

// readonlyCommand lets nothing in a folder be written until the script ends: a
// mount for who may make one, as a mode would not stop them; else a mode.
func readonlyCommand(ts *testscript.TestScript, _ bool, args []string) {
	undo, err := makeReadOnly(ts.MkAbs(args[0]))
	ts.Defer(undo)
	ts.Check(err)
}

func makeReadOnly(dir string) (undo func(), err error) {
	if os.Geteuid() == 0 {
		return mountReadOnly(dir)
	}
	var undos []func()
	undo = func() {
		for _, one := range slices.Backward(undos) {
			one()
		}
	}
	return undo, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		undos = append(undos, func() { os.Chmod(path, info.Mode()) })
		return os.Chmod(path, info.Mode()&^0o222)
	})
}

func mountReadOnly(dir string) (undo func(), err error) {
	if err := exec.Command("mount", "--bind", dir, dir).Run(); err != nil {
		return func() {}, err
	}
	undo = func() { exec.Command("umount", "-l", dir).Run() }
	return undo, exec.Command("mount", "-o", "remount,bind,ro", dir).Run()
}

// canReadOnly tells whether readonly works for this user on this system.
func canReadOnly() (bool, error) {
	dir, err := os.MkdirTemp("", "readonly")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	undo, err := makeReadOnly(dir)
	defer undo()
	return err == nil && os.WriteFile(filepath.Join(dir, "probe"), nil, 0o644) != nil, nil
}
