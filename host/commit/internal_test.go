package commit

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"
)

// nothing is a machine without events.
type nothing struct{}

func (nothing) Version() int                               { return 1 }
func (nothing) Zero() int                                  { return 0 }
func (nothing) Finished(int) bool                          { return false }
func (nothing) Evolve(s int, _ Meta, e int) int            { return s + e }
func (nothing) EncodeEvent(e int) (json.RawMessage, error) { return json.Marshal(e) }
func (nothing) DecodeEvent(raw json.RawMessage) (int, error) {
	var e int
	return e, json.Unmarshal(raw, &e)
}

type one struct{}

func (one) Kind() string                              { return "one" }
func (one) Actor() string                             { return "me" }
func (one) Decide(int, int, time.Time) ([]int, error) { return []int{1}, nil }

// Every answer on a shared mount says so.
func TestSharedMountIsAWarning(t *testing.T) {
	f := NewFiles[int, int, int](t.TempDir(), nothing{}, nil, Options{})
	f.mount = func() string { return "NFS" }
	s, started, err := f.Start(t.Context(), "a", New[int, int, int]{ID: "01J", First: one{}})
	if err != nil {
		t.Fatal(err)
	}
	committed, err := s.Commit(t.Context(), one{})
	if err != nil {
		t.Fatal(err)
	}
	read, err := s.Read(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for name, w := range map[string][]Warning{"start": started.Warnings, "commit": committed.Warnings, "read": read.Warnings} {
		if len(w) != 1 || w[0].Code != WarnNetworkMount {
			t.Errorf("%s: %+v", name, w)
		}
	}
}

func sampleView() view {
	return view{Format: 1, Run: "01J", Subject: "a", Revision: 3, Length: 300, Offset: 200, Digest: "ab", Evolve: 1, State: json.RawMessage(`{"x":[1,2]}`)}
}

// No bit of a view can change unnoticed.
func TestViewChecksum(t *testing.T) {
	good, err := sampleView().encode()
	if err != nil {
		t.Fatal(err)
	}
	if v, err := decodeView(good, "01J"); err != nil || string(v.State) != `{"x":[1,2]}` || v.Length != 300 {
		t.Fatalf("%+v, %v", v, err)
	}
	if !json.Valid(good) {
		t.Error("it is not JSON")
	}
	for i := range len(good) * 8 {
		bad := bytes.Clone(good)
		bad[i/8] ^= 1 << (i % 8)
		if _, err := decodeView(bad, "01J"); err == nil {
			t.Fatalf("bit %d changed unnoticed", i)
		}
	}
	for n := range good {
		if _, err := decodeView(good[:n], "01J"); err == nil {
			t.Fatalf("cut at %d unnoticed", n)
		}
	}
	if _, err := decodeView(good, "01X"); err == nil {
		t.Error("another run's view passed")
	}
}

// FuzzView: any bytes are a view or an error, and what is a view encodes to
// one again.
func FuzzView(f *testing.F) {
	good, err := sampleView().encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add([]byte(`{"format":1}`))
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := decodeView(data, "01J")
		if err != nil {
			// Given the right sum it may be a view after all.
			sealed := append(append(bytes.Clone(data), sumOpen+sumOf(data)...), sumClose...)
			if v, err = decodeView(sealed, "01J"); err != nil {
				return
			}
		}
		again, err := v.encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decodeView(again, "01J"); err != nil {
			t.Fatalf("%s: %v", again, err)
		}
	})
}

// FuzzIndex: whatever lies in the index, it makes no panic, hides no run and names
// none that is not there.
func FuzzIndex(f *testing.F) {
	files := NewFiles[int, int, int](f.TempDir(), nothing{}, nil, Options{})
	if _, _, err := files.Start(f.Context(), "a", New[int, int, int]{ID: "01J", First: one{}}); err != nil {
		f.Fatal(err)
	}
	for _, name := range []string{rosterName, "a"} {
		data, err := os.ReadFile(files.indexPath(name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"format":1,"slug":"a","run":"01K"}`))
	f.Add([]byte(`{"format":1,"runs":[{"run":"01K","slug":"a"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, name := range []string{rosterName, "a"} {
			if err := os.WriteFile(files.indexPath(name), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		store, err := files.Lookup(t.Context(), "a")
		if err != nil {
			t.Fatalf("%q hides the run: %v", data, err)
		}
		defer store.Close()
		if snap, err := store.Read(t.Context()); err != nil || snap.ID != "01J" {
			t.Fatalf("%q: %+v, %v", data, snap, err)
		}
	})
}
