package archive_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/host/archive"
)

func sample() archive.Run {
	return archive.Run{
		ID: "01J", Mission: "001-hello", Type: "hello", Revision: 2, Digest: "ab", Journal: []byte("one\ntwo\n"),
		Frozen: map[string][]byte{"definition.json": []byte("{}"), "plugins/x.wasm": {0, 1, 2}, "empty": {}},
	}
}

func written(t testing.TB, run archive.Run) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := archive.Write(&out, run); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestRoundTrip(t *testing.T) {
	raw := written(t, sample())
	got, err := archive.Read(iotest.OneByteReader(bytes.NewReader(raw)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sample(), got); diff != "" {
		t.Error(diff)
	}
	if !bytes.Equal(raw, written(t, got)) {
		t.Error("the same run gives other bytes")
	}
}

// Cut off anywhere, or with any byte changed, an archive is refused or is the
// same run: the padding of the tar format carries nothing.
func TestEveryFault(t *testing.T) {
	raw := written(t, sample())
	for n := range raw {
		if got, err := archive.Read(bytes.NewReader(raw[:n])); err == nil && !cmp.Equal(got, sample()) {
			t.Fatalf("cut to %d bytes: read %+v", n, got)
		}
	}
	for n := range raw {
		bad := bytes.Clone(raw)
		bad[n] ^= 0x15
		got, err := archive.Read(bytes.NewReader(bad))
		if err == nil && !(cmp.Equal(got.Journal, sample().Journal) && cmp.Equal(got.Frozen, sample().Frozen)) {
			t.Fatalf("byte %d changed: read %+v", n, got)
		}
	}
}

// listing is a manifest of files of these sizes.
func listing(sizes ...int) string {
	var files []string
	for i, size := range sizes {
		files = append(files, fmt.Sprintf(`{"name":"frozen/%d","size":%d,"sha256":""}`, i, size))
	}
	return `{"format":1,"files":[` + strings.Join(files, ",") + `]}`
}

func TestRefusals(t *testing.T) {
	entry := func(name, body string) *tar.Header {
		return &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(body))}
	}
	made := func(parts ...string) []byte {
		var out bytes.Buffer
		w := tar.NewWriter(&out)
		for i := 0; i < len(parts); i += 2 {
			if err := w.WriteHeader(entry(parts[i], parts[i+1])); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(w, parts[i+1]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	for name, tt := range map[string]struct {
		raw  []byte
		want string
	}{
		"nothing":         {nil, "it is empty"},
		"no archive":      {[]byte(strings.Repeat("x", 600)), "invalid tar header"},
		"another archive": {made("README", "hello"), "does not begin with run.json"},
		"no manifest":     {made("run.json", "{"), "not of format 1"},
		"unknown fields":  {made("run.json", `{"format":1,"more":1}`), "not of format 1"},
		"no files":        {made("run.json", `{"format":1}`), "lists no files"},
		"too large":       {made("run.json", listing(600<<20, 600<<20)), "lists more than"},
		"size below zero": {made("run.json", listing(-1, 1)), "lists more than"},
		"not listed":      {append(made("run.json", `{"format":1,"files":[{"name":"run.events.jsonl","size":0,"sha256":"`+strings.Repeat("0", 64)+`"}]}`)[:1024], made("x", "")...), `has "x" where`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := archive.Read(bytes.NewReader(tt.raw))
			if err == nil || !strings.Contains(err.Error(), tt.want) || !errors.As(err, new(*archive.Error)) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
	var newer *archive.NewerError
	if _, err := archive.Read(bytes.NewReader(made("run.json", `{"format":2,"else":1}`))); !errors.As(err, &newer) || newer.Format != 2 {
		t.Errorf("a newer format: %v", err)
	}
	broken := errors.New("broken pipe")
	if _, err := archive.Read(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("a reader that fails: %v", err)
	}
}

// A sparse file, as GNU tar makes it: truncate -s 1M run.events.jsonl;
// tar --format=posix -S -cf sparse.tar run.json run.events.jsonl
func TestSparse(t *testing.T) {
	raw, err := os.ReadFile("testdata/sparse.tar")
	if err != nil {
		t.Fatal(err)
	}
	if run, err := archive.Read(bytes.NewReader(raw)); !errors.As(err, new(*archive.Error)) || run.Journal != nil {
		t.Errorf("read %d bytes: %v", len(run.Journal), err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(written(f, sample()))
	f.Add([]byte("run.json"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		run, err := archive.Read(bytes.NewReader(raw))
		if err == nil {
			if again, err := archive.Read(bytes.NewReader(written(t, run))); err != nil || !cmp.Equal(run, again) {
				t.Errorf("what was read cannot be written: %v", err)
			}
		}
	})
}
