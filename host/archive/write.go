package archive

import (
	"archive/tar"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"time"
)

// Write writes the archive. It holds nothing of where and when it was made.
func Write(w io.Writer, run Run) error {
	m := manifest{Format: Format, Run: run.ID, Mission: run.Mission, Type: run.Type, Revision: run.Revision, Digest: run.Digest}
	bodies := [][]byte{run.Journal}
	m.add(journalName, run.Journal)
	for _, name := range slices.Sorted(maps.Keys(run.Frozen)) {
		m.add(frozenPrefix+name, run.Frozen[name])
		bodies = append(bodies, run.Frozen[name])
	}
	head, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	out := tar.NewWriter(w)
	if err := put(out, manifestName, append(head, '\n')); err != nil {
		return err
	}
	for i, f := range m.Files {
		if err := put(out, f.Name, bodies[i]); err != nil {
			return err
		}
	}
	return out.Close()
}

func (m *manifest) add(name string, data []byte) {
	m.Files = append(m.Files, file{Name: name, Size: int64(len(data)), SHA256: digest(data)})
}

func put(out *tar.Writer, name string, data []byte) error {
	head := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(data)), ModTime: time.Unix(0, 0)}
	if err := out.WriteHeader(head); err != nil {
		return err
	}
	_, err := out.Write(data)
	return err
}
