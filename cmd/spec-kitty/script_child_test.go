package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// awaitChildCommand waits until a background program has a descendant whose
// command line holds a text, and remembers it: awaitchild NAME TEXT.
func awaitChildCommand(ts *testscript.TestScript, _ bool, args []string) {
	for _, cmd := range ts.BackgroundCmds() {
		if filepath.Base(cmd.Path) != args[0] {
			continue
		}
		patiently(ts, "a child with "+args[1], func() bool {
			stateOf(ts).child = descendant(cmd.Process.Pid, args[1])
			return stateOf(ts).child != 0
		})
		return
	}
	ts.Fatalf("no %s runs in the background", args[0])
}

// childGoneCommand waits until the remembered process has ended. The kernel ends
// it with its parent, which may take a moment.
func childGoneCommand(ts *testscript.TestScript, _ bool, _ []string) {
	pid := stateOf(ts).child
	patiently(ts, "the end of process "+strconv.Itoa(pid), func() bool { return !runs(pid) })
}

func patiently(ts *testscript.TestScript, what string, done func() bool) {
	for deadline := time.Now().Add(30 * time.Second); !done(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			ts.Fatalf("%s did not come", what)
		}
	}
}

// descendant is a process below another one, by its command line; 0: none.
func descendant(root int, text string) int {
	found, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range found {
		line, err := os.ReadFile(file)
		if err != nil || !strings.Contains(strings.ReplaceAll(string(line), "\x00", " "), text) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		for up := pid; up > 1; {
			_, up = statOf(up)
			if up == root {
				return pid
			}
		}
	}
	return 0
}

// runs tells whether a process is there and no zombie.
func runs(pid int) bool {
	state, _ := statOf(pid)
	return state != "" && state != "Z"
}

// statOf is a process's state and its parent; "" where it is gone.
func statOf(pid int) (state string, parent int) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, rest, _ := strings.Cut(string(raw), ") ")
	fields := strings.Fields(rest)
	if err != nil || len(fields) < 2 {
		return "", 0
	}
	parent, _ = strconv.Atoi(fields[1])
	return fields[0], parent
}

// compileBombCommand writes a module that is compiled for long: one function
// with very many additions in a row.
func compileBombCommand(ts *testscript.TestScript, _ bool, args []string) {
	const additions = 2_000_000
	section := func(id byte, content string) string {
		return string(id) + string(binary.AppendUvarint(nil, uint64(len(content)))) + content
	}
	body := "\x00\x41\x00" + strings.Repeat("\x41\x01\x6a", additions) + "\x1a\x0b"
	size := string(binary.AppendUvarint(nil, uint64(len(body))))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte("\x00asm\x01\x00\x00\x00"+section(1, "\x01\x60\x00\x00")+section(3, "\x01\x00")+
		section(5, "\x01\x00\x01")+section(7, "\x02\x06_start\x00\x00\x06memory\x02\x00")+section(10, "\x01"+size+body)), 0o644))
}
