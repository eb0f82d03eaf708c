package commit

import (
	"context"
	"path/filepath"

	"github.com/spec-kitty/step-runner/kernel/durable"
)

// Reader is the half of a Store that only reads.
type Reader[S, E any] interface {
	ID() string
	Read(ctx context.Context) (Snapshot[S], error)
	Records(ctx context.Context, from uint64, visit func(Record[E]) error) error
	Blob(name string) (Blob, error)
	Verify(ctx context.Context) (Report, error)
}

// Unpack gives a run that was carried here as bytes for reading, in memory: it
// touches no disk. Its journal is judged by what is called, as a Store's is.
func Unpack[S, E any](m Machine[S, E], w Whole) (Reader[S, E], error) {
	return unpack[S, struct{}](m, w, Options{}.withDefaults().Journal)
}

func unpack[S, F, E any](m Machine[S, E], w Whole, journalName string) (*run[S, F, E], error) {
	mem := durable.NewMem()
	c := &core[S, F, E]{
		machine: m, root: string(filepath.Separator), mount: func() string { return "" },
		opts: Options{Disk: mem, Journal: journalName}.withDefaults(),
	}
	s := c.run(w.ID, c.runDir(w.ID))
	if err := durable.MkdirAll(mem, s.dir, folderPerm); err != nil {
		return nil, err
	}
	if err := durable.Create(mem, s.journalPath(), w.Journal, filePerm); err != nil {
		return nil, err
	}
	for name, data := range w.Blobs {
		path, err := s.beside(name)
		if err == nil {
			err = c.folders(s.dir, filepath.Dir(path), false)
		}
		if err == nil {
			err = durable.Create(mem, path, data, filePerm)
		}
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}
