package bundle

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The packed form is published in the package comment and in plugins/README.md:
// it may not change, since digests of it are pinned.
func TestPackedForm(t *testing.T) {
	got, err := Pack([]File{{"main.js", []byte("a\nb")}, {"lib/x.js", nil}})
	if want := "spec-kitty bundle 1\n0 lib/x.js\n\n3 main.js\na\nb\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	if got := Sum(got); got != "62f72cb3c70014062fbb992598805e0c3675a9490315149b0ee3ee397e4c2b4b" {
		t.Error(got)
	}
}

// What was packed comes out again, in whatever order it went in; two sets of files
// have one packed form only if they are the same.
func TestRoundTrip(t *testing.T) {
	files := rapid.Custom(func(t *rapid.T) []File {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z0-9 ]{1,3}(/[a-z]{1,2}){0,2}`), 1, 6, rapid.ID[string]).Draw(t, "names")
		var files []File
		for _, name := range names {
			files = append(files, File{name, rapid.SliceOfN(rapid.SampledFrom([]byte("\n 019a/\x00")), 0, 12).Draw(t, "data")})
		}
		return files
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := files.Draw(t, "a"), files.Draw(t, "b")
		packed, err := Pack(a)
		if err != nil {
			t.Skip("a file that is a folder too")
		}
		backwards := slices.Clone(a)
		slices.Reverse(backwards)
		if again, err := Pack(backwards); err != nil || !bytes.Equal(again, packed) {
			t.Fatalf("another order: %q, %v", again, err)
		}
		got, err := Unpack(packed)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Pack(got); err != nil || !bytes.Equal(again, packed) {
			t.Fatalf("packed again: %q, %v", again, err)
		}
		other, err := Pack(b)
		if err == nil && bytes.Equal(other, packed) != same(a, b) {
			t.Fatalf("%q and %q", packed, other)
		}
	})
}

func same(a, b []File) bool {
	as := func(files []File) map[string]string {
		m := map[string]string{}
		for _, f := range files {
			m[f.Name] = string(f.Data)
		}
		return m
	}
	return cmp.Equal(as(a), as(b))
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		why   string
		files []File
	}{
		{"there are no files", nil},
		{"stands twice", []File{{"a", nil}, {"a", nil}}},
		{"a file and a folder", []File{{"a", nil}, {"a-", nil}, {"a/b", nil}}},
		{"more than 4 MiB", []File{{"a", make([]byte, MaxBytes)}}},
		{"is longer than", []File{{strings.Repeat("x", maxName+1), nil}}},
		{"is no path below", []File{{"../a", nil}}},
		{"is no path below", []File{{"/a", nil}}},
		{"is no path below", []File{{"a/./b", nil}}},
		{"is no path below", []File{{"", nil}}},
		{"is no path below", []File{{"..", nil}}},
		{"control character", []File{{"a\nb", nil}}},
		{"not every system", []File{{`a\b`, nil}}},
		{"no UTF-8", []File{{"a\xff", nil}}},
		{"lies in a git folder", []File{{"x/.GIT/config", nil}}},
	} {
		if _, err := Pack(c.files); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v", c.why, err)
		}
	}
	many := make([]File, MaxFiles+1)
	for i := range many {
		many[i].Name = strings.Repeat("a", i%100+1) + string(rune('0'+i/100))
	}
	if _, err := Pack(many); err == nil || !strings.Contains(err.Error(), "more than 1000 files") {
		t.Error(err)
	}
}

func TestUnpackRefusesWhatWasNotPacked(t *testing.T) {
	for _, text := range []string{
		"", "x", head, head + "1 a\nx", head + "1 a\n", head + "01 a\nx\n", head + "+1 a\nx\n", head + "-1 a\nx\n",
		head + "99999999999999999999 a\nx\n", head + "1 b\nx\n1 a\nx\n", head + "1 a\nx\n1 a\nx\n", head + "1 a/../b\nx\n",
		head + "1 a\nx\nrest", head + "1\nx\n", head + "2 a\nx\n",
	} {
		if files, err := Unpack([]byte(text)); err == nil {
			t.Errorf("%q: %v", text, files)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add([]byte(head + "1 a\nx\n0 b/c\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		files, err := Unpack(text)
		if err != nil {
			return
		}
		if again, err := Pack(files); err != nil || !bytes.Equal(again, text) {
			t.Errorf("%q: %v", again, err)
		}
	})
}

func TestPackFolder(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("main.js", "x")
	put("lib/a.js", "y")
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	got, err := PackFolder(dir)
	if want := head + "1 lib/a.js\ny\n1 main.js\nx\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	put("big", strings.Repeat("x", MaxBytes+1))
	if _, err := PackFolder(dir); err == nil || !strings.Contains(err.Error(), "more than 4 MiB") {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(dir, "big")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("main.js", filepath.Join(dir, "link.js")); err != nil {
		t.Skip(err)
	}
	if _, err := PackFolder(dir); err == nil || !strings.Contains(err.Error(), "link.js is no regular file") {
		t.Error(err)
	}
	if _, err := PackFolder(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not there was packed")
	}
}
