package docs_test

import (
	"strings"
	"testing"
)

// Files at the edge of what is allowed: what the decoder accepts no schema
// refuses, as an editor would mark what is right; and what a schema can see to
// be wrong, it refuses with the decoder.
func TestConfigSchemasAtTheEdges(t *testing.T) {
	const (
		right = "right"
		wrong = "wrong"
		blind = "wrong, which a schema cannot see"
	)
	root := t.TempDir()
	for _, c := range []struct{ where, key, line, want string }{
		{"config", "schema", "schema = 2", wrong},
		{"config", "x", "missions = {}", right},
		{"config", "x", "missions = { 'a/b' = { steps = [{ id = 'a' }] } }", wrong},
		{"config", "x", "plugins = { lint = {} }", wrong},
		{"project", "name", `name = ""`, wrong},
		{"runtime", "dir", `dir = "/var/lib/x"`, right},
		{"runtime", "dir", `dir = ""`, wrong},
		{"runtime", "dir", `dir = "../x"`, blind},
		{"runtime", "specs_dir", `specs_dir = "a\\b"`, wrong},
		{"runtime", "lock_timeout", `lock_timeout = "1m30.5s"`, right},
		{"runtime", "lock_timeout", `lock_timeout = "+.5s"`, right},
		{"runtime", "lock_timeout", `lock_timeout = "10"`, wrong},
		{"runtime", "lock_timeout", `lock_timeout = "-1s"`, wrong},
		{"runtime", "lock_timeout", `lock_timeout = "2h"`, blind},
		{"runtime", "holder", `holder = "any"`, right},
		{"runtime", "holder", `holder = "Any"`, wrong},
		{"plugin", "memory", `memory = "128 MiB"`, right},
		{"plugin", "memory", `memory = " 65536KiB"`, right},
		{"plugin", "memory", `memory = "64MB"`, wrong},
		{"plugin", "memory", `memory = "1MiB"`, blind},
		{"plugin", "sha256", `sha256 = "` + strings.Repeat("aB", 32) + `"`, right},
		{"plugin", "sha256", `sha256 = "` + strings.Repeat("g", 64) + `"`, wrong},
		{"plugin", "env", `env = { A = "", b = "=" }`, right},
		{"plugin", "env", `env = { "A=B" = "" }`, wrong},
		{"plugin", "env", `env = { A = 1 }`, wrong},
		{"plugin", "read", `read = ["{mission}", "docs", "."]`, right},
		{"plugin", "read", `read = [""]`, wrong},
		{"command", "run", "", wrong},
		{"command", "run", "run = []", wrong},
		{"command", "run", `run = ["go test"]`, blind},
		{"command", "run", `run = ["", "x"]`, blind},
		{"command", "x", `timeout = "24h"` + "\npass_env = []\noutput = '64MiB'\ncwd = 'workspace'", right},
		{"command", "x", `timeout = "25h"`, blind},
		{"command", "x", `cwd = "worktree"`, wrong},
		{"command", "x", `pass_env = ["A=B"]`, wrong},
		{"command", "x", `pass_env = [""]`, wrong},
		{"guard", "artifact", "event = 'x'\nmin = 2", right},
		{"guard", "artifact", "event = ''", wrong},
		{"guard", "artifact", "command = ''", wrong},
		{"guard", "artifact", "command = 'x'", blind},
		{"guard", "x", "min = 1", wrong},
		{"guard", "artifact", "event = 'x'\nmin = 0", wrong},
		{"type", "steps", `file = "m.toml"` + "\nsteps = []", wrong},
		{"type", "steps", "", wrong},
		{"type", "steps", "steps = []", wrong},
		{"type", "x", `key = "n"`, blind},
		{"type", "x", `key = "m"` + "\nname = ''\nversion = ''\nmission = {}", right},
		{"file", "steps", "audits = []", wrong},
		{"mission", "x", `name = ""`, right},
		{"step", "id", `id = "a.b-c_1"`, right},
		{"step", "id", `id = "a."`, wrong},
		{"step", "id", `id = "ä"`, wrong},
		{"step", "id", `id = "con"`, blind},
		{"step", "retry", "retry = 100", right},
		{"step", "retry", "retry = 101", wrong},
		{"step", "title", "title = ''\ndescription = ''\naction = ''\nprofile = ''\nmetadata = {}\nguards = []\ninputs = []\ndepends_on = []", right},
		{"step", "prompt", "", right},
		{"step", "prompt", `prompt = ""`, wrong},
		{"step", "prompt", "template = false", wrong},
		{"step", "x", `prompt_template = "x.md"`, wrong},
		{"step", "x", "question = 'Why?'", wrong},
		{"step", "x", "depends_on = ['a']", blind},
		{"audit", "x", "retry = 0\ndescription = ''\nprofile = ''\nmetadata = {}\nguards = []\ninputs = []\non_reject = ''", right},
		{"audit", "x", "retry = 1", wrong},
		{"audit", "x", "prompt = 'x'", wrong},
		{"audit", "x", "guards = [{ artifact = 'x' }]", wrong},
		{"audit", "x", "work_packages = {}", wrong},
		{"audit", "x", "on_reject = 'a'\ndepends_on = ['a']", right},
		{"audit", "question", "question = ' '", wrong},
		{"audit", "enforcement", "enforcement = 'advisory'\nprompt = 'x'\nretry = 1", right},
		{"audit", "enforcement", "enforcement = 'advisory'\non_reject = 'a'\ndepends_on = ['a']", wrong},
		{"audit", "enforcement", "enforcement = 'advisry'", wrong},
		{"input", "question", "default = 'x'\nquestion = ''\noptions = []", right},
		{"input", "question", "question = ' '", wrong},
		{"input", "question", "", wrong},
		{"input", "x", "default = ''", wrong},
		{"input", "x", "options = ['a', 'a']", wrong},
		{"input", "x", "options = ['']", wrong},
		{"input", "key", "key = 'a-b'", wrong},
		{"guard", "artifact", "", wrong},
		{"guard", "x", "input = 'k'", wrong},
		{"guard", "x", "message = ''\ncontains = ''\nmin_bytes = 1\nmin_count = 1", right},
		{"guard", "x", "min_bytes = 0", wrong},
		{"guard", "x", "min_bytes = 16777217", wrong},
		{"guard", "x", "lanes = ['done']", wrong},
		{"guard", "x", "with = {}", wrong},
		{"guard", "x", "contains = '('", blind},
		{"guard", "artifact", "work_packages = 'WP01'\nlanes = ['done', 'doing']", right},
		{"guard", "artifact", "work_packages = 'WP01'", wrong},
		{"guard", "artifact", "work_packages = 'WP01'\nlanes = []", wrong},
		{"guard", "artifact", "work_packages = 'WP01'\nlanes = ['genesis']", wrong},
		{"executor", "x", "auto = true\nwith = { a = 1979-05-27, b = [1, { c = 2.5 }] }", right},
		{"packages", "x", "also = []\nallow_none = true", right},
		{"packages", "claim", "claim = 'doing'", right},
		{"packages", "take", "take = []", wrong},
		{"packages", "failed", "failed = 'for_review'", blind},
	} {
		p := places()[c.where]
		text := p.with(c.key, c.line)
		_, _, loaded := p.load(t, root, text)
		seen := accepts(t, p, text)
		if got := map[[2]bool]string{{true, true}: right, {false, false}: wrong, {false, true}: blind, {true, false}: "right, and the schema refuses it"}[[2]bool{loaded == nil, seen == nil}]; got != c.want {
			t.Errorf("%s: %s: %s, want %s\ndecoder: %v\nschema: %v", c.where, c.line, got, c.want, loaded, seen)
		}
	}
}
