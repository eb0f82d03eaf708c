package commit

import (
	"cmp"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/spec-kitty/step-runner/kernel/durable"
)

// The roster keeps what the first records say, so that a call which needs all
// runs need not open them. What it says of a run never changes, so an old
// roster is never wrong: the folders of runs/ are listed each time, and those
// that it does not have are read. A missing index entry proves nothing; this
// does.

const (
	rosterFormat = 1
	rosterLimit  = 256 << 20 // bytes; a larger file is not ours
)

// roster is index/.roster, sealed. The names of all its runs are durable: it
// is written after a sync of runs/.
type roster struct {
	Format int        `json:"format"`
	Runs   []rostered `json:"runs"`
}

type rostered struct {
	Run  string    `json:"run"`
	Slug string    `json:"slug"`
	At   time.Time `json:"at"`
}

// readRoster gives the runs of the roster by id; nil where there is none.
func (c *core[S, F, E]) readRoster() map[string]origin {
	data, err := durable.ReadFile(c.opts.Disk, c.indexPath(rosterName), rosterLimit)
	var r roster
	if err != nil || sealed(data) != nil || json.Unmarshal(data, &r) != nil || r.Format != rosterFormat {
		return nil
	}
	out := make(map[string]origin, len(r.Runs))
	for _, one := range r.Runs {
		out[one.Run] = origin{id: one.Run, slug: one.Slug, at: one.At}
	}
	return out
}

// writeRoster enters the runs whose first records are known. Their names are
// durable by now.
func (c *core[S, F, E]) writeRoster(runs []origin) error {
	r := roster{Format: rosterFormat, Runs: make([]rostered, 0, len(runs))}
	for _, o := range runs {
		if o.err == nil {
			r.Runs = append(r.Runs, rostered{o.id, o.slug, o.at})
		}
	}
	slices.SortFunc(r.Runs, func(a, b rostered) int { return cmp.Compare(a.Run, b.Run) })
	data, err := seal(r)
	if err != nil {
		return err
	}
	return durable.Publish(c.opts.Disk, c.indexPath(rosterName), data, filePerm)
}

// roll is every run there is.
type roll struct {
	runs   []origin
	latest map[string]origin // by slug: the last one started
	whole  bool              // the roster has exactly these
}

// call makes the roll: the folders that are there now, each with what the
// roster or its first record says.
func (c *core[S, F, E]) call() (roll, error) {
	listed := c.readRoster() // before the folders: it may only lag behind them
	ids, err := c.names(filepath.Join(c.root, runsName))
	if err != nil {
		return roll{}, err
	}
	out := roll{whole: listed != nil}
	known := 0
	for _, id := range ids {
		o, ok := listed[id]
		if ok {
			known++
		} else if o = c.origin(id); errors.Is(o.err, ErrNoRun) {
			continue
		} else if o.err == nil {
			out.whole = false
		}
		out.runs = append(out.runs, o)
	}
	out.whole = out.whole && known == len(listed)
	out.latest = latest(out.runs)
	return out, nil
}

// pick finds the slug's run on the roll: ErrNoRun only where every run is
// known to be none of it. A run that the disk would not give is an error, since
// it may be the one.
func (c *core[S, F, E]) pick(slug string, r roll) (string, error) {
	for _, o := range r.runs {
		if o.unread() && (o.slug == "" || o.slug == slug) {
			return "", o.err
		}
	}
	if o, ok := r.latest[slug]; ok {
		return c.follow(o.id, slug)
	}
	// The entry may be the only thing that knows a damaged run.
	if id := c.readEntry(slug); id != "" {
		if ok, err := c.speaksOf(id, slug); ok || err != nil {
			return id, err
		}
	}
	return "", ErrNoRun
}
