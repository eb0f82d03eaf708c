package commit

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/journal"
)

// The index is a view over the run folders: one file per slug, which makes
// finding a run independent of how many there are, and the roster of all runs,
// which is read only where that file is no help. Nothing in it is believed to
// say that there is no run.

// indexFormat is the version of an entry.
const indexFormat = 1

// indexLimit bounds an index file, bytes.
const indexLimit = 4 << 10

// indexEntry is index/SLUG.
type indexEntry struct {
	Format int    `json:"format"`
	Slug   string `json:"slug"`
	Run    string `json:"run"`
}

// origin is what a run folder says of itself.
type origin struct {
	id   string
	of   string // the run that the first record is of: id, but in a folder that was copied or renamed
	slug string
	at   time.Time
	err  error // why the first record cannot be read; the slug may be known all the same
}

// unread tells whether the disk did not give what the run says of itself. That
// is no damage: it may say it the next time.
func (o origin) unread() bool {
	return o.err != nil && !errors.Is(o.err, ErrNoRun) && !isDamage(o.err) && !errors.As(o.err, new(*NewerFormatError))
}

func (c *core[S, F, E]) indexPath(name string) string {
	return filepath.Join(c.root, indexName, name)
}

// readEntry gives the run that the slug's entry names, "" where there is no
// entry that can be used. The name of that run is durable: the entry is written
// after a sync of runs/.
func (c *core[S, F, E]) readEntry(slug string) string {
	data, err := durable.ReadFile(c.opts.Disk, c.indexPath(slug), indexLimit)
	var e indexEntry
	if err != nil || json.Unmarshal(data, &e) != nil || e.Format != indexFormat || e.Slug != slug || checkName("run id", e.Run) != nil {
		return ""
	}
	return e.Run
}

func (c *core[S, F, E]) writeEntry(slug, id string) error {
	data, err := json.Marshal(indexEntry{indexFormat, slug, id})
	if err != nil {
		return err
	}
	path := c.indexPath(slug)
	if info, err := c.opts.Disk.Stat(path); err == nil && info.IsDir() {
		// No file can be renamed onto it. One with something in it is a
		// person's and stays.
		_ = c.opts.Disk.Remove(path)
	}
	return durable.Replace(c.opts.Disk, path, append(data, '\n'), filePerm)
}

// names lists a folder without our dotted files; a missing one is empty.
func (c *core[S, F, E]) names(dir string) ([]string, error) {
	entries, err := c.opts.Disk.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if e.Name()[0] != '.' {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

// origin reads a run's first record. A damaged run keeps its slug by its view,
// so that it is reported and not taken for a mission without a run.
func (c *core[S, F, E]) origin(id string) origin {
	s := c.run(id, c.runDir(id))
	out := origin{id: id}
	var rec journal.Record
	rec, out.err = s.first()
	out.slug, out.at, out.of = rec.Subject, rec.At, rec.Run
	if out.slug == "" {
		if v, _ := s.readView(); v != nil {
			out.slug = v.Subject
		}
	}
	return out
}

func (s *run[S, F, E]) first() (journal.Record, error) {
	j, err := s.readable()
	if err != nil {
		return journal.Record{}, err
	}
	defer j.Close()
	size, err := j.Size()
	if err != nil {
		return journal.Record{}, err
	}
	rec, err := journal.First(j, size)
	if err == nil && rec.Run != s.id {
		err = &DamagedError{File: s.journalPath(), Line: 1, Why: "it is the journal of the run " + rec.Run}
	}
	return rec, s.damage(err)
}

// scan reads the origin of every run folder.
func (c *core[S, F, E]) scan() ([]origin, error) {
	ids, err := c.names(filepath.Join(c.root, runsName))
	if err != nil {
		return nil, err
	}
	var out []origin
	for _, id := range ids {
		if o := c.origin(id); !errors.Is(o.err, ErrNoRun) {
			out = append(out, o)
		}
	}
	return out, nil
}

// latest gives each slug its run: the last one started. The copy of a run, under
// another name beside it, is none: somebody kept it, as we ask before a folder is
// mended by hand. A run that is there under another name only is not passed over.
func latest(all []origin) map[string]origin {
	there := map[string]bool{}
	for _, o := range all {
		there[o.id] = true
	}
	out := map[string]origin{}
	for _, o := range all {
		if o.of != "" && o.of != o.id && there[o.of] {
			continue
		}
		old, ok := out[o.slug]
		if o.slug != "" && (!ok || o.at.After(old.at) || o.at.Equal(old.at) && o.id > old.id) {
			out[o.slug] = o
		}
	}
	return out
}
