package main

import (
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// The Go plugin's rows take long: a call that finds no cache leaves a filler
// behind, which must end before the next program is timed.
const (
	goRounds   = 4 // of how many whole-process rounds one is made
	fillerWait = time.Minute
)

func goPluginRows(b *bed) ([]row, error) {
	floor, _, err := b.base()
	if err != nil {
		return nil, err
	}
	p, size, err := b.goProject()
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("Go plugin of %.1f MB", float64(size)/1e6)
	cores := []struct {
		single bool
		where  string
	}{{false, ""}, {true, ", on one core"}}
	if !canOneCore {
		cores = cores[:1]
	}
	var rows []row
	for i, on := range cores {
		plain, cached, first, err := b.goPrograms(p, i*goRuns, on.single)
		if err != nil {
			return nil, err
		}
		if err := b.rounds(max(b.opts.rounds/goRounds, 5), floor, plain, cached, first); err != nil {
			return nil, err
		}
		rows = append(rows,
			row{Group: "goplugin", What: what + " from the cache" + on.where, Value: cached.more(plain, floor), Unit: "F", Bar: 55, Kind: atMost},
			row{Group: "goplugin", What: what + ", first call ever" + on.where, Value: first.more(plain, floor), Unit: "F", Bar: 200, Kind: atMost})
	}
	return rows, nil
}

// goPrograms are next without a plugin, with it from the cache, and with it never
// called before. Their missions are those from the given number on.
func (b *bed) goPrograms(p *project, from int, single bool) (plain, cached, first *program, err error) {
	slug := func(base int) func(int) string {
		return func(n int) string { return fmt.Sprintf("%03d-go", base+n/perMission) }
	}
	plain, err = b.nextProgram("next, small project", p, func(n int) string { return plainSlug(from + n/perMission) })
	if err != nil {
		return nil, nil, nil, err
	}
	cached, err = b.nextProgram("next with a Go plugin", p, slug(from))
	if err != nil {
		return nil, nil, nil, err
	}
	first, err = b.nextProgram("next with a Go plugin, first call", p, slug(from+goRuns/2))
	if err != nil {
		return nil, nil, nil, err
	}
	plain.single, cached.single, first.single = single, single, single
	b.withoutCache(first, fmt.Sprintf("cache-%d-", from))
	return plain, cached, first, nil
}

// withoutCache gives every call an empty cache of its own. The filler that a call
// leaves behind is waited for, untimed.
func (b *bed) withoutCache(p *program, prefix string) {
	cacheOf := func(n int) string { return prefix + fmt.Sprint(n) }
	p.env = func(n int) []string { return b.cacheEnv(cacheOf(n)) }
	p.settle = func(n int) error {
		if err := p.advanced(); err != nil {
			return err
		}
		if err := b.filled(b.path(cacheOf(n))); err != nil {
			return err
		}
		return os.RemoveAll(b.path(cacheOf(n)))
	}
}

// goRuns are enough for 20 × perMission calls from the cache, and as many
// without; twice, where there is a row of one core.
const goRuns = 40

// goProject is a project whose steps are guarded by a plugin in Go.
func (b *bed) goProject() (p *project, size int, err error) {
	path, err := b.build("./bench/guest", "GOOS=wasip1", "GOARCH=wasm")
	if err != nil {
		return nil, 0, err
	}
	wasm, err := os.ReadFile(path)
	if err != nil {
		return nil, 0, err
	}
	cfg := smallConfig(plainType, "go") + fmt.Sprintf(`
[plugins.guest]
wasm = "guest.wasm"
sha256 = %q
read = ["{mission}"]
`, sha(wasm))
	p, err = b.makeProject("go", cfg, missionType{name: plainType, steps: largeSteps},
		missionType{name: "go", steps: largeSteps, guard: `{ plugin = "guest" }`})
	if err != nil {
		return nil, 0, err
	}
	if err := os.WriteFile(filepath.Join(p.root, "guest.wasm"), wasm, 0o644); err != nil {
		return nil, 0, err
	}
	b.say("compiling the plugin")
	for n := range 2 * goRuns {
		if err := p.start(b.ctx, fmt.Sprintf("%03d-go", n), "go"); err != nil {
			return nil, 0, err
		}
		if err := p.start(b.ctx, plainSlug(n), plainType); err != nil {
			return nil, 0, err
		}
	}
	flush()
	return p, len(wasm), nil
}

// filled waits until the filler of an empty cache has put its code there.
func (b *bed) filled(dir string) error {
	for begun := time.Now(); time.Since(begun) < fillerWait; time.Sleep(20 * time.Millisecond) {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		if hasCode(dir) {
			return nil
		}
	}
	return fmt.Errorf("no filler has filled %s within %s", dir, fillerWait)
}

// hasCode tells whether compiled code lies in a cache: it appears by rename, in
// a file named by a SHA-256.
func hasCode(dir string) bool {
	found := false
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { // what vanishes meanwhile is no code
		if err == nil && !d.IsDir() && len(d.Name()) == 64 {
			_, err := hex.DecodeString(d.Name())
			found = found || err == nil
		}
		return nil
	})
	return found
}
