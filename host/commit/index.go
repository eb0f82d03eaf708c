package commit

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/journal"
)

// The index is a view over the run folders: one file per slug, and one that
// says that all are there. It is a folder and not a file, since a file that
// lists all runs would be read and written as a whole by every call.

// indexFormat is the version of both files.
const indexFormat = 1

// indexLimit bounds an index file, bytes.
const indexLimit = 4 << 10

// indexEntry is index/SLUG.
type indexEntry struct {
	Format int    `json:"format"`
	Slug   string `json:"slug"`
	Run    string `json:"run"`
}

// complete is index/.complete: every run folder has its entry. It counts both,
// so that an entry or a folder which a person removed is noticed.
type complete struct {
	Format  int `json:"format"`
	Entries int `json:"entries"`
	Runs    int `json:"runs"`
}

// origin is what a run folder says of itself.
type origin struct {
	id   string
	slug string
	at   time.Time
	err  error // why the first record cannot be read; the slug may be known all the same
}

func (c *core[S, F, E]) indexPath(name string) string {
	return filepath.Join(c.root, indexName, name)
}

// readEntry gives the run that the slug's entry names. It is "" where there is
// no entry, and also where there is one that cannot be used; absent tells the
// two apart.
func (c *core[S, F, E]) readEntry(slug string) (id string, absent bool) {
	data, err := durable.ReadFile(c.opts.Disk, c.indexPath(slug), indexLimit)
	if err != nil {
		return "", errors.Is(err, fs.ErrNotExist)
	}
	var e indexEntry
	if json.Unmarshal(data, &e) != nil || e.Format != indexFormat || e.Slug != slug || checkName("run id", e.Run) != nil {
		return "", false
	}
	return e.Run, false
}

func (c *core[S, F, E]) writeEntry(slug, id string) error {
	data, err := json.Marshal(indexEntry{indexFormat, slug, id})
	if err != nil {
		return err
	}
	return durable.Replace(c.opts.Disk, c.indexPath(slug), append(data, '\n'), filePerm)
}

// readComplete is nil where the index is not known to be complete.
func (c *core[S, F, E]) readComplete() *complete {
	var out complete
	data, err := durable.ReadFile(c.opts.Disk, c.indexPath(completeName), indexLimit)
	if err != nil || json.Unmarshal(data, &out) != nil || out.Format != indexFormat {
		return nil
	}
	return &out
}

// count lists both folders, opening nothing in them.
func (c *core[S, F, E]) count() (complete, error) {
	entries, err := c.names(filepath.Join(c.root, indexName))
	if err != nil {
		return complete{}, err
	}
	runs, err := c.names(filepath.Join(c.root, runsName))
	return complete{indexFormat, len(entries), len(runs)}, err
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

// writeComplete says that all entries are there; they are durable by now.
func (c *core[S, F, E]) writeComplete() error {
	n, err := c.count()
	if err != nil {
		return err
	}
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return durable.Publish(c.opts.Disk, c.indexPath(completeName), append(data, '\n'), filePerm)
}

// dropComplete comes before a run folder that has no entry yet; it is durable
// on return.
func (c *core[S, F, E]) dropComplete() error {
	if err := c.opts.Disk.Remove(c.indexPath(completeName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return c.opts.Disk.SyncDir(filepath.Join(c.root, indexName))
}

// origin reads a run's first record. A damaged run keeps its slug by its view,
// so that it is reported and not taken for a mission without a run.
func (c *core[S, F, E]) origin(id string) origin {
	s := c.run(id, c.runDir(id))
	out := origin{id: id}
	var rec journal.Record
	rec, out.err = s.first()
	out.slug, out.at = rec.Subject, rec.At
	if out.slug == "" {
		if v, _ := s.readView(); v != nil {
			out.slug = v.Subject
		}
	}
	return out
}

func (s *run[S, F, E]) first() (journal.Record, error) {
	j, err := s.openJournal(os.O_RDONLY)
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

// latest gives each slug its run: the last one started.
func latest(all []origin) map[string]origin {
	out := map[string]origin{}
	for _, o := range all {
		old, ok := out[o.slug]
		if o.slug != "" && (!ok || o.at.After(old.at) || o.at.Equal(old.at) && o.id > old.id) {
			out[o.slug] = o
		}
	}
	return out
}
