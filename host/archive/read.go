package archive

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// Read reads a whole archive into memory, at most MaxSize bytes. Errors: *Error,
// *NewerError, and those of r as they are.
func Read(r io.Reader) (Run, error) {
	in := tar.NewReader(io.LimitReader(r, MaxSize+maxManifest))
	m, err := readManifest(in)
	if err != nil {
		return Run{}, err
	}
	run := Run{ID: m.Run, Mission: m.Mission, Type: m.Type, Revision: m.Revision, Digest: m.Digest, Frozen: map[string][]byte{}}
	for i, f := range m.Files {
		data, err := readListed(in, f)
		if err != nil {
			return Run{}, err
		}
		name, frozen := strings.CutPrefix(f.Name, frozenPrefix)
		switch {
		case i == 0 && f.Name == journalName:
			run.Journal = data
		case i == 0:
			return Run{}, wrong("its first file is %q, not %s", f.Name, journalName)
		case !frozen:
			return Run{}, wrong("it has a file %q that this version does not know", f.Name)
		case run.Frozen[name] != nil:
			return Run{}, wrong("it has the file %q twice", f.Name)
		default:
			run.Frozen[name] = data
		}
	}
	if head, err := in.Next(); err == nil {
		return Run{}, wrong("it has a file %q that its manifest does not list", head.Name)
	} else if !errors.Is(err, io.EOF) {
		return Run{}, unreadable(err)
	}
	return run, nil
}

func readManifest(in *tar.Reader) (manifest, error) {
	var m manifest
	head, err := in.Next()
	switch {
	case errors.Is(err, io.EOF):
		return m, wrong("it is empty")
	case err != nil:
		return m, unreadable(err)
	case head.Name != manifestName || !plain(head) || head.Size > maxManifest:
		return m, wrong("it does not begin with %s", manifestName)
	}
	data, err := io.ReadAll(in)
	if err != nil {
		return m, unreadable(err)
	}
	if err := json.Unmarshal(data, &struct {
		Format *int `json:"format"`
	}{&m.Format}); err == nil && m.Format > Format {
		return m, &NewerError{m.Format}
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil || m.Format != Format {
		return m, wrong("%s is not of format %d: %v", manifestName, Format, err)
	}
	if len(m.Files) == 0 {
		return m, wrong("it lists no files")
	}
	return m, m.bounded()
}

// bounded wants that all files together are no larger than what is read.
func (m *manifest) bounded() error {
	left := int64(MaxSize)
	for _, f := range m.Files {
		if f.Size < 0 || f.Size > left {
			return wrong("its manifest lists more than %d bytes", MaxSize)
		}
		left -= f.Size
	}
	return nil
}

// plain tells a file all of whose bytes the archive holds. Of a sparse one tar gives
// zero bytes for what is left out, and a few kilobytes would fill the memory.
func plain(head *tar.Header) bool {
	for key := range head.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return false
		}
	}
	return head.Typeflag == tar.TypeReg
}

func readListed(in *tar.Reader, f file) ([]byte, error) {
	head, err := in.Next()
	switch {
	case errors.Is(err, io.EOF):
		return nil, wrong("it ends before %s", f.Name)
	case err != nil:
		return nil, unreadable(err)
	case head.Name != f.Name || !plain(head):
		return nil, wrong("it has %q where its manifest lists %s", head.Name, f.Name)
	case head.Size != f.Size:
		return nil, wrong("%s has %d bytes, its manifest says %d", f.Name, head.Size, f.Size)
	}
	data := make([]byte, f.Size)
	if _, err := io.ReadFull(in, data); err != nil {
		return nil, unreadable(err)
	}
	if got := digest(data); got != f.SHA256 {
		return nil, wrong("%s has SHA-256 %s, its manifest says %s", f.Name, got, f.SHA256)
	}
	return data, nil
}

// unreadable tells an archive that ends too early, or is none, from a reader
// that fails.
func unreadable(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return wrong("it ends too early, or holds more than %d bytes", MaxSize)
	case errors.Is(err, tar.ErrHeader), errors.Is(err, tar.ErrFieldTooLong), errors.Is(err, tar.ErrInsecurePath):
		return wrong("%v", err)
	}
	return err
}
