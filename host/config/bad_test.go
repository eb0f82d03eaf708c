package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLoadRefuses is field cases 43 (limits) and 45 (misspelled keys): every
// problem of a file at once, each with its line, key and nearest known name.
func TestLoadRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no schema", `[project]
name = "x"`, `spec-kitty.toml: schema: is missing: the file's first line is schema = 1`},
		{"newer schema", `schema = 2`, `spec-kitty.toml:1: schema: 2 is newer than this version, which reads 1`},
		{"old schema", `schema = 0`, `spec-kitty.toml:1: schema: must be 1, not 0`},
		{"schema's type", `schema = "1"`, `spec-kitty.toml:1: schema: a whole number was expected, not text`},
		{"syntax", "schema = 1\n[runtime\n", `spec-kitty.toml:3: expected '.' or ']' to end table name, but got '\n' instead`},
		{"key twice", "schema = 1\nschema = 1\n", `spec-kitty.toml:2: schema: Key 'schema' has already been defined.`},
		{"for a terminal", "schema = 1\n\"\\u001b[2J\" = 1\n\"\\u001b[2J\" = 2\n", "spec-kitty.toml:3: \ufffd[2J: Key '\"\\u001b[2J\"' has already been defined."},
		{"for a terminal, too", "schema = 1\n\"\\u001b[2J\" = 1\n[missions.x]\nfile = \"\\u001b.toml\"\n", `spec-kitty.toml:2: "\x1b[2J": unknown key "\x1b[2J"; the keys there are commands, loops, missions, plugins, project, runtime, schema, work_packages
spec-kitty.toml:4: missions.x.file: "\x1b.toml" holds a control character; a path below the project root was expected`},
		{"not UTF-8", "schema = 1\n# \xff\n", `spec-kitty.toml:2: is not UTF-8`},
		{"letter case", "Schema = 1\n[Runtime]\n", `spec-kitty.toml: schema: is missing: the file's first line is schema = 1
spec-kitty.toml:1: Schema: unknown key Schema; did you mean schema?
spec-kitty.toml:2: Runtime: unknown key Runtime; did you mean runtime?`},
		{"unknown table", "schema = 1\n[plugin.x]\n", `spec-kitty.toml:2: plugin: unknown key plugin; did you mean plugins?`},
		{"wrong level", "schema = 1\nholder = \"any\"\n[project]\n[runtime]\nname = \"x\"\nschema = 1\n",
			`spec-kitty.toml:2: holder: unknown key holder; the keys there are commands, loops, missions, plugins, project, runtime, schema, work_packages
spec-kitty.toml:5: runtime.name: unknown key name in [runtime]; the keys there are dir, holder, lock_timeout, require_token, specs_dir
spec-kitty.toml:6: runtime.schema: schema is a key of the top of the file, but stands inside [runtime]: move it up, above [runtime]`},
		{"commands of a plugin", "schema = 1\n[plugins.a]\nwasm = \"a.wasm\"\nsha256 = \"0000000000000000000000000000000000000000000000000000000000000000\"\ncommands = [\"x\"]\n", `spec-kitty.toml:5: plugins.a.commands: unknown key commands in [plugins.a]; the keys there are args, dir, dir_sha256, env, log, max_rounds, memory, output, read, sha256, timeout, wasm, write`},
		{"commands", `schema = 1
[commands.a]
run = "go test"
timeout = "0s"
cwd = "worktree"
pass_env = ["A=B", 1, ""]
output = "1TiB"
shell = true
[commands.b]
[commands.c]
run = []
[commands.d]
run = ["go test ./..."]
[commands.e]
run = ["", "x", 2, "a\u0000b"]
[commands.E]
run = ["x"]
timeout = "25h"
[commands."a b"]
run = ["x"]
`, `spec-kitty.toml:3: commands.a.run: a list of texts was expected, not text
spec-kitty.toml:4: commands.a.timeout: must be from 1ms to 24h0m0s, not 0s
spec-kitty.toml:5: commands.a.cwd: must be one of project, workspace, not "worktree"
spec-kitty.toml:6: commands.a.pass_env[0]: "A=B" is no environment variable's name
spec-kitty.toml:6: commands.a.pass_env[1]: text in quotes was expected, not a whole number
spec-kitty.toml:6: commands.a.pass_env[2]: "" is no environment variable's name
spec-kitty.toml:7: commands.a.output: "1TiB" is no size: it needs a whole number and a unit, one of B, KiB, MiB and GiB
spec-kitty.toml:8: commands.a.shell: unknown key shell in [commands.a]; the keys there are cwd, output, pass_env, run, timeout
spec-kitty.toml:9: commands.b.run: is missing: the program and its arguments, such as ["go", "test", "./..."]
spec-kitty.toml:11: commands.c.run: is empty: the program and its arguments were expected
spec-kitty.toml:13: commands.d.run[0]: "go test ./..." is one word for the program's name, as no shell takes it apart: write its arguments as texts of their own
spec-kitty.toml:14: commands.e: differs from E only in letter case
spec-kitty.toml:15: commands.e.run[2]: text in quotes was expected, not a whole number
spec-kitty.toml:15: commands.e.run[3]: "a\x00b" holds a zero byte
spec-kitty.toml:15: commands.e.run[0]: is empty: the name of a program was expected
spec-kitty.toml:18: commands.E.timeout: must be from 1ms to 24h0m0s, not 25h0m0s
spec-kitty.toml:19: commands."a b": the name "a b" may hold only letters, digits, -, _ and ., not ' '`},
		{"where a plugin may write", `schema = 1
[runtime]
dir = "Work/state"
[plugins.z]
wasm = "z"
sha256 = "` + strings.Repeat("0", 64) + `"
write = [".", "docs/..", "work/state", "Work/state/runs", "docs/.GIT", "../x", "{missions}", "/etc", "work", "{mission}"]
max_rounds = 0
`, `spec-kitty.toml:7: plugins.z.write[5]: "../x" leads out of the project; a folder below the project root, "{mission}" or "{workspace}" was expected
spec-kitty.toml:7: plugins.z.write[6]: "{missions}" is no placeholder; a folder below the project root, "{mission}" or "{workspace}" was expected
spec-kitty.toml:7: plugins.z.write[7]: "/etc" is absolute; a folder below the project root, "{mission}" or "{workspace}" was expected
spec-kitty.toml:7: plugins.z.write[0]: "." is the whole project, with its configuration and state: name the folders
spec-kitty.toml:7: plugins.z.write[1]: "docs/.." is the whole project, with its configuration and state: name the folders
spec-kitty.toml:7: plugins.z.write[2]: "work/state" is the runs' state, which nothing but the step runner writes
spec-kitty.toml:7: plugins.z.write[3]: "Work/state/runs" is the runs' state, which nothing but the step runner writes
spec-kitty.toml:7: plugins.z.write[4]: "docs/.GIT" is git's own
spec-kitty.toml:8: plugins.z.max_rounds: must be from 1 to 100, not 0`},
		{"runtime", `schema = 1
[runtime]
dir = "."
specs_dir = "../x"
lock_timeout = 10
require_token = "yes"
holder = "holders"
max_tick = 1
`, `spec-kitty.toml:3: runtime.dir: "." is the project root itself, which the state's .gitignore would hide; a folder below the project root, or an absolute path, was expected
spec-kitty.toml:4: runtime.specs_dir: "../x" leads out of the project; a path below the project root was expected
spec-kitty.toml:5: runtime.lock_timeout: a duration in quotes such as "10s" was expected, not a whole number
spec-kitty.toml:6: runtime.require_token: true or false was expected, not text
spec-kitty.toml:7: runtime.holder: must be one of holder, any, not "holders"; did you mean holder?
spec-kitty.toml:8: runtime.max_tick: unknown key max_tick in [runtime]; the keys there are dir, holder, lock_timeout, require_token, specs_dir`},
		{"folders in one another", "schema = 1\n[runtime]\ndir = \"kitty-specs/state\"\n",
			`spec-kitty.toml:3: runtime.dir: "kitty-specs/state" and specs_dir "kitty-specs" lie in one another: the state would be taken for a mission, or missions for state`},
		{"missions in git's folder", "schema = 1\n[runtime]\nspecs_dir = \".git\"\n",
			`spec-kitty.toml:3: runtime.specs_dir: ".git" lies in git's own folder`},
		{"durations", "schema = 1\nruntime = { lock_timeout = \"0s\" }\n[plugins.a]\nwasm=\"a\"\nsha256=\"" + strings.Repeat("a", 64) + "\"\ntimeout = \"-5s\"\n[plugins.b]\nwasm=\"b\"\nsha256=\"" + strings.Repeat("b", 64) + "\"\ntimeout = \"10\"\n[plugins.c]\nwasm=\"c\"\nsha256=\"" + strings.Repeat("c", 64) + "\"\ntimeout = \"1000000000s\"\n",
			`spec-kitty.toml:2: runtime.lock_timeout: must be from 1ms to 1h0m0s, not 0s
spec-kitty.toml:6: plugins.a.timeout: must be from 1ms to 1h0m0s, not -5s
spec-kitty.toml:10: plugins.b.timeout: "10" is no duration: it needs a number and a unit, such as "500ms", "10s" or "2m"
spec-kitty.toml:14: plugins.c.timeout: must be from 1ms to 1h0m0s, not 277777h46m40s`},
		{"plugins", `schema = 1
[plugins.lint]
wasm = "/abs.wasm"
sha256 = "12"
args = "x"
read = ["/etc", "{missions}", "..", 3]
memory = "1MB"
timeout = 5
output = "1GiB"
log = ""
env = { "A=B" = "x", C = 1 }
[plugins.Lint]
[plugins."a b"]
wasm = "x"
sha256 = ""
memory = "100KiB"
`, `spec-kitty.toml:2: plugins.lint: differs from Lint only in letter case
spec-kitty.toml:3: plugins.lint.wasm: "/abs.wasm" is absolute; a path below the project root was expected
spec-kitty.toml:4: plugins.lint.sha256: must be 64 hexadecimal digits
spec-kitty.toml:5: plugins.lint.args: a list of texts was expected, not text
spec-kitty.toml:6: plugins.lint.read[0]: "/etc" is absolute; a folder below the project root, "{mission}" or "{workspace}" was expected
spec-kitty.toml:6: plugins.lint.read[1]: "{missions}" is no placeholder; a folder below the project root, "{mission}" or "{workspace}" was expected
spec-kitty.toml:6: plugins.lint.read[2]: ".." leads out of the project; a folder below the project root, "{mission}" or "{workspace}" was expected
spec-kitty.toml:6: plugins.lint.read[3]: text in quotes was expected, not a whole number
spec-kitty.toml:7: plugins.lint.memory: "1MB" is no size: it needs a whole number and a unit, one of B, KiB, MiB and GiB
spec-kitty.toml:8: plugins.lint.timeout: a duration in quotes such as "10s" was expected, not a whole number
spec-kitty.toml:9: plugins.lint.output: must be from 1B to 4MiB, not 1GiB
spec-kitty.toml:10: plugins.lint.log: "" is no size: it needs a whole number and a unit, one of B, KiB, MiB and GiB
spec-kitty.toml:11: plugins.lint.env."A=B": is no environment variable: the name may not be empty or hold = or a zero byte, nor the value a zero byte
spec-kitty.toml:11: plugins.lint.env.C: text in quotes was expected, not a whole number
spec-kitty.toml:12: plugins.Lint.sha256: is missing: the SHA-256 of the plugin's bytes, which is compared before anything runs; ` + "`spec-kitty plugin pin Lint`" + ` writes it
spec-kitty.toml:12: plugins.Lint.wasm: is missing: the path of the plugin's .wasm file
spec-kitty.toml:13: plugins."a b": the name "a b" may hold only letters, digits, -, _ and ., not ' '
spec-kitty.toml:15: plugins."a b".sha256: is empty
spec-kitty.toml:16: plugins."a b".memory: must be from 4MiB to 2GiB, not 100KiB`},
		{"a table's type", "schema = 1\nplugins = 1\nmissions = []\n[runtime.holder]\n", `spec-kitty.toml:2: plugins: a table was expected, not a whole number
spec-kitty.toml:3: missions: a table was expected, not a list
spec-kitty.toml:4: runtime.holder: text in quotes was expected, not a table`},
		{"file and definition", "schema = 1\n[missions.x]\nfile = \"x.toml\"\nsteps = []\nname = \"X\"\n",
			`spec-kitty.toml:4: missions.x.steps: has no effect beside file: the definition is in x.toml
spec-kitty.toml:5: missions.x.name: has no effect beside file: the definition is in x.toml`},
		{"inline, all at once", `schema = 1
[missions.hello]
key = "helo"
steps = [
  { id = "write", gaurds = [{ artifact = "a" }] },
  { id = "check", depend_on = ["write"],
    guards = [{ artifact = "../b", min = 1 }] },
  { id = "check", prompt = "{{.Nothing}}" },
]
`, `spec-kitty.toml:3: missions.hello.key: "helo" differs from the table's name "hello": a mission type has one name
spec-kitty.toml:5: missions.hello.steps[0].gaurds: unknown key gaurds in [[missions.hello.steps]]; did you mean guards?
spec-kitty.toml:6: missions.hello.steps[1].depend_on: unknown key depend_on in [[missions.hello.steps]]; did you mean depends_on?
spec-kitty.toml:7: missions.hello.steps[1].guards[0].min: has no effect on a guard of kind artifact: it belongs to event
spec-kitty.toml:7: missions.hello.steps[1].guards[0].artifact: "../b" leads out of the mission's folder
spec-kitty.toml:8: missions.hello.steps[2].id: "check" is taken: steps[1] has it too
spec-kitty.toml:8: missions.hello.steps[2].prompt: line 1: undefined: .Nothing`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Load(project(t, map[string]string{FileName: c.text}))
			var invalid *InvalidError
			if !errors.As(err, &invalid) {
				t.Fatalf("no *InvalidError: %v", err)
			}
			if diff := cmp.Diff(strings.Split(c.want, "\n"), strings.Split(err.Error(), "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
