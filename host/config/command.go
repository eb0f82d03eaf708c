package config

import (
	"strconv"
	"strings"
	"time"

	"github.com/spec-kitty/step-runner/host/mission"
)

// Bounds and defaults of a declared command.
const (
	maxCommandTime   = 24 * time.Hour
	maxCommandOutput = 64 << 20

	defaultCommandTime   = 10 * time.Minute
	defaultCommandOutput = 1 << 20
)

// Command is one [commands.NAME]: a program of the host that guards and plugins
// may ask for by its name.
type Command struct {
	Name    string
	Run     []string      // the program and its arguments; no shell looks at them
	Timeout time.Duration // 1 ms to 24 h
	Cwd     Cwd
	PassEnv []string // the variables of ours that it gets, and no others
	Output  int64    // bytes of each stream that are kept, the last ones
}

// Cwd says in which folder a command works.
type Cwd string

// The folders: the project root, and the worktree of the package that is
// reported.
const (
	CwdProject   Cwd = "project"
	CwdWorkspace Cwd = "workspace"
)

// CommandNames are the names of the commands, sorted.
func (c *Config) CommandNames() []string { return sortedKeys(c.Commands) }

func (c *Config) commands(t *table) {
	c.Commands = map[string]Command{}
	for _, one := range t.named("commands") {
		c.Commands[one.key] = command(one)
	}
}

func command(t *table) Command {
	c := Command{
		Name:    t.key,
		Run:     t.program("run"),
		Timeout: t.duration("timeout", time.Millisecond, maxCommandTime, defaultCommandTime),
		Cwd:     Cwd(t.oneOf("cwd", string(CwdProject), string(CwdWorkspace))),
		PassEnv: t.passEnv("pass_env"),
		Output:  t.size("output", 1, maxCommandOutput, defaultCommandOutput),
	}
	if !t.has("run") {
		t.wrong("run", `is missing: the program and its arguments, such as ["go", "test", "./..."]`)
	}
	t.done()
	return c
}

// program reads a program and its arguments; nil where there is none.
func (t *table) program(key string) []string {
	argv := t.args(key)
	list, isList := t.values[key].([]any)
	switch {
	case isList && len(list) == 0:
		t.wrong(key, "is empty: the program and its arguments were expected")
	case len(argv) == 0: // missing, or no list
	case argv[0] == "":
		t.read.add(t.item(key, 0), "", "is empty: the name of a program was expected")
	case isLine(argv[0]):
		t.read.add(t.item(key, 0), "", "%q is one word for the program's name, as no shell takes it apart: write its arguments as texts of their own", argv[0])
	}
	return argv
}

// isLine tells a whole command line from a program's path that has a space in it.
func isLine(program string) bool {
	word, _, more := strings.Cut(program, " ")
	return more && !strings.ContainsAny(word, `/\`)
}

// passEnv reads the variables that a program gets. Without the key it gets the
// two that hardly any program does without.
func (t *table) passEnv(key string) []string {
	var names []string
	t.eachText(key, func(i int, name string) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			t.read.add(t.item(key, i), "", "%q is no environment variable's name", name)
		}
		names = append(names, name)
	})
	if !t.has(key) {
		return []string{"HOME", "PATH"}
	}
	return names
}

// checkCommands adds what is wrong with the commands that a definition names.
func checkCommands(r *reading, cfg *Config, def *mission.Definition, base string) {
	known := cfg.CommandNames()
	for _, ref := range def.CommandReferences() {
		c, ok := cfg.Commands[ref.Name]
		switch {
		case ref.Name == "": // said
		case !ok:
			r.missing(cfg, base+ref.Path, "commands", "command", ref.Name, known)
		case len(cfg.Plugins[ref.Executor].Write) > 0:
			r.unlessKnown(Problem{File: r.file, Path: base + ref.Path,
				Message: "names a command, which cannot see what the step's executor " + ref.Executor + " may write (it is granted `write`): that is made after the guards. Put the command on the step after it"})
		case c.Cwd == CwdWorkspace && !ref.Packages:
			r.unlessKnown(Problem{File: r.file, Path: base + ref.Path,
				Message: "names the command " + strconv.Quote(ref.Name) + `, which works in a package's worktree (cwd = "workspace"), on a step without work packages: there is none`})
		}
	}
}
