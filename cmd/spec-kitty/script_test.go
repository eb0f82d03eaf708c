package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/tools/txtar"
)

// TestScripts runs every behaviour of the program as a script, in processes of
// their own. What the scripts can call beside testscript's own commands:
//
//	fixture NAME [DIR]   unpacks testdata/fixture/NAME.txtar
//	sk CODE ARG...       runs spec-kitty and wants this exit code; with --json,
//	                     exactly one document that its schema accepts
//	document             the same for what a background command printed
//	json PATH OP VALUE   looks at the last document, see jsonCommand
//	jsonenv NAME PATH    sets a variable from it
//	tree DIR, sametree   names, modes, times and bytes of a folder, and that they
//	                     are still the same
//	readonly DIR         makes it read-only: a mount where possible, else by mode
//	forge FILE OLD NEW   changes the last record of a journal and its digest
//	await FILE           waits until a file is there
//	signal NAME SIGNAL   to a background command; then, after wait:
//	exited CODE          its exit code
//	awaitchild NAME TEXT until a background command has a process below it whose
//	                     command line holds the text; then childgone
//	compilebomb FILE     writes a module that is compiled for long
//
// The condition [tools:LANG] holds where guests in a language can be built, see
// hasTools.
func TestScripts(t *testing.T) {
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Files:               scripts(t),
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Values[scriptKey{}] = &script{}
			env.Setenv("REPO", repository)
			env.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
			env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			if cache, err := os.UserCacheDir(); err == nil && os.Getenv("GOCACHE") == "" {
				env.Setenv("GOCACHE", filepath.Join(cache, "go-build")) // else a script's go build begins with the library
			}
			env.Setenv("NODE_MODULES", os.Getenv("NODE_MODULES"))
			if home, err := os.UserHomeDir(); err == nil && os.Getenv("RUSTUP_HOME") == "" {
				env.Setenv("RUSTUP_HOME", filepath.Join(home, ".rustup")) // else rustc, where it is rustup's, finds no toolchain
			}
			// Under the race detector each call would sleep for a second at its end.
			env.Setenv("GORACE", cmp.Or(os.Getenv("GORACE"), "atexit_sleep_ms=0"))
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".cache"))
			return nil
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "canreadonly":
				return canReadOnly()
			}
			if lang, ok := strings.CutPrefix(name, "tools:"); ok {
				return hasTools(lang)
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fixture": fixtureCommand, "sk": skCommand, "document": documentCommand,
			"json": jsonCommand, "jsonenv": jsonenvCommand,
			"forge": forgeCommand, "tree": treeCommand, "sametree": sametreeCommand, "readonly": readonlyCommand,
			"await": awaitCommand, "signal": signalCommand, "exited": exitedCommand,
			"awaitchild": awaitChildCommand, "childgone": childGoneCommand, "compilebomb": compileBombCommand,
		},
	})
}

type scriptKey struct{}

// script is what a script's commands remember.
type script struct {
	doc      any
	treeDir  string
	treeText string
	signaled *exec.Cmd
	child    int // process id
}

func stateOf(ts *testscript.TestScript) *script { return ts.Value(scriptKey{}).(*script) }

func fixtureCommand(ts *testscript.TestScript, _ bool, args []string) {
	dir := "."
	if len(args) == 2 {
		dir = args[1]
	}
	archive, err := txtar.ParseFile(filepath.Join(fixtures(), args[0]+".txtar"))
	ts.Check(err)
	for _, f := range archive.Files {
		path := filepath.Join(ts.MkAbs(dir), filepath.FromSlash(f.Name))
		ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
		ts.Check(os.WriteFile(path, f.Data, 0o644))
	}
}

// fixtures is found from the package's folder, which tests run in.
func fixtures() string {
	dir, err := filepath.Abs("testdata/fixture")
	if err != nil {
		panic(err)
	}
	return dir
}

func skCommand(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	args = args[1:]
	err = ts.Exec("spec-kitty", args...)
	got := 0
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
	flags := args
	if end := slices.Index(args, "--"); end >= 0 {
		flags = args[:end]
	}
	if slices.Contains(flags, "--json") {
		takeDocument(ts, got)
	}
}

func documentCommand(ts *testscript.TestScript, _ bool, args []string) {
	code, err := strconv.Atoi(args[0])
	ts.Check(err)
	takeDocument(ts, code)
}

// takeDocument checks stdout and remembers its document.
func takeDocument(ts *testscript.TestScript, code int) {
	doc, err := checkOutput([]byte(ts.ReadFile("stdout")), code)
	if err != nil {
		ts.Fatalf("%v", err)
	}
	stateOf(ts).doc = doc
}

func forgeCommand(ts *testscript.TestScript, _ bool, args []string) {
	lines := strings.SplitAfter(strings.TrimSuffix(ts.ReadFile(args[0]), "\n"), "\n")
	last, _, ok := strings.Cut(lines[len(lines)-1], `,"digest":`)
	if !ok || !strings.Contains(last, args[1]) {
		ts.Fatalf("the last record has no %s", args[1])
	}
	last = strings.Replace(last, args[1], args[2], 1)
	last = fmt.Sprintf("%s,\"digest\":\"%x\"}\n", last, sha256.Sum256([]byte(last)))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Join(lines[:len(lines)-1], "")+last), 0o644))
}

func awaitCommand(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s did not come", args[0])
		}
	}
}

func signalCommand(ts *testscript.TestScript, _ bool, args []string) {
	for _, cmd := range ts.BackgroundCmds() {
		if filepath.Base(cmd.Path) != args[0] {
			continue
		}
		sig := os.Interrupt
		switch strings.ToUpper(args[1]) {
		case "TERM":
			sig = syscall.SIGTERM
		case "HUP":
			sig = syscall.SIGHUP
		}
		ts.Check(cmd.Process.Signal(sig))
		stateOf(ts).signaled = cmd
		return
	}
	ts.Fatalf("no %s runs in the background", args[0])
}

func exitedCommand(ts *testscript.TestScript, _ bool, args []string) {
	if got := strconv.Itoa(stateOf(ts).signaled.ProcessState.ExitCode()); got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

// scripts are those of testdata/script; in a short run, which the race detector
// has, without those that call plugins: each of their child processes would
// compile a module in a race build, which takes minutes and shows nothing that
// the sandbox's own tests do not.
func scripts(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(all) == 0 {
		t.Fatalf("%d scripts: %v", len(all), err)
	}
	if !testing.Short() {
		return all
	}
	return slices.DeleteFunc(all, func(file string) bool {
		raw, err := os.ReadFile(file)
		return err != nil || bytes.Contains(raw, []byte("plugin"))
	})
}
