package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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

// readonlyCommand lets nothing in a folder be written until the script ends. A
// mode stops nobody who may do everything, so it is a mount where one can be
// made; where neither helps, the script is skipped.
func readonlyCommand(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	if runtime.GOOS == "linux" && os.Geteuid() == 0 {
		if err := mountReadOnly(dir); err == nil {
			ts.Defer(func() { exec.Command("umount", "-l", dir).Run() })
			return
		}
	}
	ts.Check(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		ts.Defer(func() { os.Chmod(path, info.Mode()) })
		return os.Chmod(path, info.Mode()&^0o222)
	}))
	if probe := filepath.Join(dir, "probe"); os.WriteFile(probe, nil, 0o644) == nil {
		os.Remove(probe)
		ts.Setenv("NOT_READONLY", "1")
	}
}

func mountReadOnly(dir string) error {
	if err := exec.Command("mount", "--bind", dir, dir).Run(); err != nil {
		return err
	}
	if err := exec.Command("mount", "-o", "remount,bind,ro", dir).Run(); err != nil {
		exec.Command("umount", "-l", dir).Run()
		return err
	}
	return nil
}
