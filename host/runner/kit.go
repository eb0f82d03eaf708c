package runner

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spec-kitty/step-runner/host/bundle"
	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/mission"
	"github.com/spec-kitty/step-runner/host/sandbox"
	"github.com/spec-kitty/step-runner/plugins/abi"
)

// Kit is what the author of a plugin works with: modules in files and, where
// there is a project, the plugins that it configures. It opens no run and, but for Pin
// and Test with Update, takes no lock and writes nothing but the compilation cache. Its methods may be called concurrently. Errors are *Error or the
// context's own.
type Kit struct {
	root   string // of the project; "" where there is none
	config func() (*config.Config, error)
	host   *sandbox.Host
	beside FileOptions
}

// FileOptions are what a configuration says of a plugin, for a module that is
// named as a file.
type FileOptions struct {
	Dir  string   // its own folder, which it is shown at /plugin; "" for none
	Args []string // arguments before the verb
}

// WithFile is the kit with options for modules that are named as files. Naming a
// configured plugin is an error then: the configuration has its own.
func (k *Kit) WithFile(o FileOptions) *Kit {
	other := *k
	other.beside = o
	return &other
}

// OpenKit is the kit for a folder. A project that is missing, or whose
// configuration is invalid, is an error only for who names one of its plugins.
func OpenKit(o Options) *Kit {
	root, err := findRoot(o.Root)
	if err != nil {
		root = ""
	}
	return &Kit{
		root: root,
		host: sandbox.New(sandbox.Options{CacheDir: o.CacheDir, Project: root}),
		config: sync.OnceValues(func() (*config.Config, error) {
			if err != nil {
				return nil, classify(err)
			}
			cfg, err := config.LoadUnpinned(root)
			return cfg, classify(err)
		}),
	}
}

// module is a plugin to work on.
type module struct {
	name string
	file string // absolute
	wasm []byte
	own  []byte         // its own folder, packed; nil: it has none
	args []string       // of a file
	conf *config.Plugin // nil: a file that was named as such

	declared map[string]bool // commands, by name
}

func (m module) sum() string { return hexSum(m.wasm) }

// sandboxed is the plugin as it is called: the bytes that were read, with the
// configured arguments, variables and limits. Whether they are those that were
// pinned is not asked here.
func (m module) sandboxed() sandbox.Plugin {
	if m.conf == nil {
		return sandbox.Plugin{Name: m.name, Wasm: m.wasm, SHA256: m.sum(), Args: m.args, Bundle: m.own}
	}
	p := freezePlugin(*m.conf).sandboxed(m.name, m.wasm, m.own)
	p.SHA256 = m.sum()
	return p
}

// find reads the module that a target names: a file where it looks like one, a
// configured plugin else.
func (k *Kit) find(target string) (module, error) {
	if target == "" {
		return module{}, fail(CodeUsage, "name a plugin of the configuration, or a .wasm file", "no plugin is named")
	}
	if looksLikeFile(target) {
		return k.readFile(target)
	}
	conf, err := k.configured(target)
	switch {
	case err == nil && (k.beside.Dir != "" || k.beside.Args != nil):
		return module{}, fail(CodeUsage, "leave out --dir and --arg, or name the file", "the configuration says what plugin %s is shown and given", target)
	case err == nil:
		return k.read(conf)
	}
	if info, statErr := os.Stat(target); statErr == nil && info.Mode().IsRegular() {
		return k.readFile(target)
	}
	return module{}, err
}

func looksLikeFile(target string) bool {
	return strings.ContainsAny(target, `/\`) || strings.EqualFold(filepath.Ext(target), ".wasm") || strings.EqualFold(filepath.Ext(target), ".wat")
}

func (k *Kit) readFile(name string) (module, error) {
	file, err := filepath.Abs(name)
	if err != nil {
		return module{}, classify(err)
	}
	wasm, err := readWasm(file)
	if err != nil {
		return module{}, placed(fail(CodeNotFound, "name a plugin of the configuration, or a .wasm file", "the module cannot be read: %v", err), file, 0)
	}
	base := filepath.Base(file)
	m := module{name: strings.TrimSuffix(base, filepath.Ext(base)), file: file, wasm: wasm, args: k.beside.Args}
	if k.beside.Dir == "" {
		return m, nil
	}
	if m.own, err = bundle.PackFolder(k.beside.Dir); err != nil {
		return m, placed(fail(CodeNotFound, "name a folder with the plugin's own files", "the folder cannot be shown to the plugin: %v", err), k.beside.Dir, 0)
	}
	return m, nil
}

// configured is the plugin that the configuration has under a name.
func (k *Kit) configured(name string) (config.Plugin, error) {
	cfg, err := k.config()
	if err != nil {
		return config.Plugin{}, err
	}
	conf, ok := cfg.Plugins[name]
	if ok {
		return conf, nil
	}
	e := unconfigured(name)
	e.Candidates = cfg.PluginNames()
	if near := mission.Nearest(name, e.Candidates); near != "" {
		e.Message += "; did you mean " + near + "?"
		e.Candidates = []string{near}
	}
	return conf, e
}

// unconfigured is the error of what is no plugin of the configuration: a name that it
// does not have, or a file where a name is wanted.
func unconfigured(name string) *Error {
	if looksLikeFile(name) || mission.CheckName(name) != nil {
		return fail(CodeNotFound, "name a plugin that is in "+config.FileName+"; a module gets there by a table [plugins.NAME] with wasm = \"FILE\"",
			"%q is no name of a plugin in %s", name, config.FileName)
	}
	return fail(CodeNotFound, "write [plugins."+config.Key(name)+"] with its wasm into "+config.FileName+", or name a file, such as ./"+name+".wasm",
		"plugin %q is not in %s", name, config.FileName)
}

func (k *Kit) read(conf config.Plugin) (module, error) {
	cfg, err := k.config()
	if err != nil {
		return module{}, err
	}
	m := module{name: conf.Name, file: cfg.WasmPath(conf), conf: &conf, declared: map[string]bool{}}
	for _, name := range cfg.CommandNames() {
		m.declared[name] = true
	}
	if m.wasm, err = readInside(cfg, m.file); err != nil {
		return m, placed(fail(CodeDefinitionInvalid, "build it, or mend plugins."+conf.Name+".wasm in "+config.FileName,
			"plugin %s cannot be read: %v", conf.Name, err), m.file, 0)
	}
	m.own, err = packOwn(cfg, conf)
	return m, err
}

// ended is how one call came out.
type ended struct {
	sandbox.Watched
	code   sandbox.Code // "": an answer that the host takes
	detail string
	answer json.RawMessage // nil where there is none
}

// call calls a module once and judges its answer as the host does in a run. The
// error is the context's own.
func (k *Kit) call(ctx context.Context, m module, c sandbox.Call, verb string, request []byte) (ended, error) {
	c.Verb, c.Request = verb, request
	if c.Seed == ([32]byte{}) {
		c.Seed = sha256.Sum256(request)
	}
	if c.Now.IsZero() {
		c.Now = clockOf(request)
	}
	seen, err := k.host.Watch(ctx, m.sandboxed(), c)
	e := ended{Watched: seen}
	if err != nil {
		if ctx.Err() != nil {
			return e, ctx.Err()
		}
		if !errors.As(err, &e.Failure) {
			return e, classify(err)
		}
	}
	if e.Failure == nil {
		err := e.judge(m, verb)
		if err == nil {
			return e, nil
		}
		if !errors.As(err, &e.Failure) {
			return e, classify(err)
		}
	}
	e.code, e.detail = e.Failure.Code, e.Failure.Detail
	return e, nil
}

// judge holds the answer against what the verb may answer.
func (e *ended) judge(m module, verb string) error {
	var err error
	name := m.name
	switch verb {
	case abi.Guard:
		_, err = sandbox.GuardAnswer(name, e.Answer)
	case abi.Execute:
		_, err = sandbox.ExecuteAnswer(name, e.Answer, m.mayAsk())
	case abi.Describe:
		_, err = sandbox.DescribeAnswer(name, e.Answer)
	default:
		return nil
	}
	if err == nil {
		e.answer = json.RawMessage(strings.TrimSpace(string(e.Stdout)))
	}
	return err
}

// mayAsk is what the module's answers may ask the host to do: what the
// configuration grants, and of a file alone all, since it is only looked at.
func (m module) mayAsk() sandbox.Grants {
	if m.conf == nil {
		return sandbox.Grants{All: true}
	}
	return sandbox.Grants{Write: len(m.conf.Write) > 0, Commands: m.declared}
}

// clockOf is the request's own time, by which a run's calls go too; where it has
// none, a fixed one, so that the same request gives the same answer.
func clockOf(request []byte) time.Time {
	var r struct {
		Now string `json:"now"`
	}
	if json.Unmarshal(request, &r) == nil {
		if now, err := time.Parse(time.RFC3339Nano, r.Now); err == nil {
			return now
		}
	}
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
}

// missionDirOf is the mission's folder that a request names, if it lies in the
// project.
func missionDirOf(request []byte) string {
	var r struct {
		Mission abi.Mission `json:"mission"`
	}
	if json.Unmarshal(request, &r) != nil {
		return ""
	}
	dir := path.Clean(r.Mission.Dir)
	if !strings.HasPrefix(dir, abi.ProjectDir+"/") {
		return ""
	}
	return dir
}

// shownText is foreign text that JSON can hold.
func shownText(b []byte) string { return strings.ToValidUTF8(string(b), "\ufffd") }
