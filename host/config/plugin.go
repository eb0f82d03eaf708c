package config

import (
	"encoding/hex"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spec-kitty/step-runner/host/mission"
)

// MaxWasm is the greatest size of a plugin, in bytes.
const MaxWasm = 32 << 20

// Bounds and defaults of what a plugin is granted.
const (
	page = 64 << 10 // WebAssembly memory comes in pages

	minMemory = 4 << 20 // a Go guest begins with 46 pages
	maxMemory = 2 << 30
	maxOutput = 4 << 20 // the longest answer of ABI v1
	maxLog    = 4 << 20

	defaultMemory  = 64 << 20
	defaultTimeout = 10 * time.Second
	defaultOutput  = 1 << 20
	defaultLog     = 256 << 10

	maxRounds     = 100
	defaultRounds = 4
)

func (c *Config) plugins(t *table) {
	c.Plugins = map[string]Plugin{}
	for _, one := range t.named("plugins") {
		p := plugin(one)
		p.Write = c.writable(one, "write")
		one.done()
		c.Plugins[one.key] = p
	}
}

func plugin(t *table) Plugin {
	p := Plugin{
		Name:    t.key,
		Wasm:    t.pathBelow("wasm", ""),
		SHA256:  t.digest("sha256", "the plugin's bytes", true),
		Dir:     t.pathBelow("dir", ""),
		DirSum:  t.digest("dir_sha256", "the plugin's own folder", t.has("dir")),
		Args:    t.args("args"),
		Read:    t.readable("read"),
		Env:     t.env("env"),
		Memory:  t.size("memory", minMemory, maxMemory, defaultMemory),
		Timeout: t.duration("timeout", time.Millisecond, time.Hour, defaultTimeout),
		Output:  t.size("output", 1, maxOutput, defaultOutput),
		Log:     t.size("log", 1, maxLog, defaultLog),

		MaxRounds: int(t.numberIn("max_rounds", 1, maxRounds, defaultRounds)),
	}
	if !t.has("wasm") {
		t.wrong("wasm", "is missing: the path of the plugin's .wasm file")
	}
	if t.has("dir_sha256") && !t.has("dir") {
		t.wrong("dir_sha256", "is the digest of dir, which is missing: write dir, the folder that the plugin is shown at /plugin")
	}
	if p.Memory%page != 0 {
		t.wrong("memory", "must be a multiple of 64KiB")
	}
	return p
}

// digest reads a pin, of what the words say.
func (t *table) digest(key, of string, required bool) string {
	text := t.text(key)
	switch sum, err := hex.DecodeString(text); {
	case !t.has(key) && required:
		t.wrong(key, "is missing: the SHA-256 of %s, which is compared before anything runs; `spec-kitty plugin pin %s` writes it", of, t.key)
	case text != "" && (err != nil || len(sum) != 32):
		t.wrong(key, "must be 64 hexadecimal digits")
	case text == "":
		if _, isText := t.values[key].(string); isText {
			t.wrong(key, "is empty")
		}
	}
	return strings.ToLower(text)
}

// args may not hold a zero byte: they are the guest's argv.
func (t *table) args(key string) []string {
	var args []string
	t.eachText(key, func(i int, arg string) {
		if strings.ContainsRune(arg, 0) {
			t.read.add(t.item(key, i), "", "%q holds a zero byte", arg)
		}
		args = append(args, arg)
	})
	return args
}

// readable are the folders that a plugin may read.
func (t *table) readable(key string) []string {
	var folders []string
	t.eachText(key, func(i int, folder string) {
		why := ""
		switch {
		case folder == "{mission}", folder == "{workspace}":
			folders = append(folders, folder)
			return
		case strings.ContainsAny(folder, "{}"):
			why = "is no placeholder"
		default:
			why = notBelow(folder)
		}
		if why != "" {
			t.read.add(t.item(key, i), "", `%q %s; a folder below the project root, "{mission}" or "{workspace}" was expected`, folder, why)
		}
		folders = append(folders, path.Clean(folder))
	})
	return folders
}

// writable are the folders that a plugin's artifacts may go to. What no artifact
// may touch cannot be granted.
func (c *Config) writable(t *table, key string) []string {
	folders := t.readable(key)
	t.eachText(key, func(i int, folder string) {
		if why := c.notWritable(folder); why != "" {
			t.read.add(t.item(key, i), "", "%q %s", folder, why)
		}
	})
	return folders
}

func (c *Config) notWritable(folder string) string {
	folder = mission.Fold(path.Clean(folder))
	state := mission.Fold(c.Runtime.Dir)
	switch {
	case folder == ".":
		return "is the whole project, with its configuration and state: name the folders"
	case folder == state || strings.HasPrefix(folder, state+"/"):
		return "is the runs' state, which nothing but the step runner writes"
	case slices.Contains(strings.Split(folder, "/"), ".git"):
		return "is git's own"
	}
	return ""
}

func (t *table) env(key string) map[string]string {
	in := t.table(key)
	if in == nil {
		return nil
	}
	env := make(map[string]string, len(in.values))
	for _, name := range sortedKeys(in.values) {
		value := in.text(name)
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			in.wrong(name, "is no environment variable: the name may not be empty or hold = or a zero byte, nor the value a zero byte")
		}
		env[name] = value
	}
	return env
}
