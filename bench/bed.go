package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spec-kitty/step-runner/host/runner"
)

// bed is where everything is measured: a folder on the disk in question, with
// copies of the programs and generated projects.
type bed struct {
	ctx   context.Context
	opts  options
	dir   string
	src   string // the repository
	log   io.Writer
	built map[string]string // programs, by name
	large *project
	state []byte // a state.json of the large project, to size the floor by
	line  []byte // a record of it
	floor *program
	next  *program
}

func newBed(ctx context.Context, o options, log io.Writer) (*bed, error) {
	dir, err := os.MkdirTemp(o.dir, "spec-kitty-bench-")
	if err != nil {
		return nil, err
	}
	b := &bed{ctx: ctx, opts: o, dir: dir, log: log, built: map[string]string{}}
	if b.src, err = repository(ctx); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

func (b *bed) close() error { return os.RemoveAll(b.dir) }

// say tells on stderr what is going on; it is long work.
func (b *bed) say(format string, args ...any) { fmt.Fprintf(b.log, "bench: "+format+"\n", args...) }

func (b *bed) path(name ...string) string { return filepath.Join(append([]string{b.dir}, name...)...) }

// repository is the folder of the module that this is run in.
func repository(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/spec-kitty/step-runner").Output()
	if err != nil {
		return "", fmt.Errorf("run this inside the repository: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// build builds a package once, as releases are built but for -trimpath, for which
// everything would be compiled again, and copies the program: a file fresh from the
// linker starts 7 to 13 % slower.
func (b *bed) build(pkg string, env ...string) (string, error) {
	name := filepath.Base(pkg)
	if path, ok := b.built[name]; ok {
		return path, nil
	}
	linked, path := b.path("linked-"+name), b.path(name)
	build := exec.CommandContext(b.ctx, "go", "build", "-ldflags", "-s -w", "-o", linked, pkg)
	build.Dir, build.Env = b.src, append(os.Environ(), append(env, "CGO_ENABLED=0")...)
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	program, err := os.ReadFile(linked)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(path, program, 0o755); err != nil {
		return "", err
	}
	b.built[name] = path
	return path, os.Remove(linked)
}

// measured is the large project of the rows on `next`, made once.
func (b *bed) measured() (*project, error) {
	if b.large != nil {
		return b.large, nil
	}
	b.say("making the project: %d steps, %d runs", largeSteps, largeRuns)
	p, err := b.makeLarge()
	if err != nil {
		return nil, err
	}
	b.large = p
	b.state, b.line, err = p.sizes(b.ctx, plainSlug(0))
	return p, err
}

// floorProgram is the floor with a state and a record as long as those of the
// measured project.
func (b *bed) floorProgram() (*program, error) {
	if b.floor != nil {
		return b.floor, nil
	}
	path, err := b.build("./bench/floor")
	if err != nil {
		return nil, err
	}
	if _, err := b.measured(); err != nil {
		return nil, err
	}
	dir, err := b.floorDir("floor-state", b.state, b.line)
	if err != nil {
		return nil, err
	}
	b.floor = &program{name: "floor", path: path, args: func(int) []string { return []string{dir} }}
	return b.floor, nil
}

// floorDir makes a folder for the floor to step in, with a state and records
// as long as those given.
func (b *bed) floorDir(name string, state, line []byte) (string, error) {
	fields := map[string]string{}
	for i := 0; i*64+len(line) < len(state); i++ {
		fields[fmt.Sprintf("field_%04d", i)] = strings.Repeat("x", 48)
	}
	raw, err := json.Marshal(map[string]any{
		"revision": 0, "length": 0, "fields": fields, "record": strings.Repeat("x", len(line)-1) + "\n",
	})
	if err != nil {
		return "", err
	}
	dir := b.path(name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, "state.json"), raw, 0o644)
}

// cacheEnv is an environment by which processes find a compilation cache.
func (b *bed) cacheEnv(name string) []string { return []string{"XDG_CACHE_HOME=" + b.path(name)} }

// cacheDir is the same folder as the library wants it named.
func (b *bed) cacheDir(name string) string { return b.path(name, "spec-kitty", "plugins") }

// open opens a project in this process, on a disk that does not sync: what it
// makes is genuine, only quick.
func (b *bed) open(root string) (*runner.Project, error) {
	o := runner.Options{Root: root, CacheDir: b.cacheDir("cache")}
	o.Commit.Disk = unsynced()
	return runner.Open(o)
}
