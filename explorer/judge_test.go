package explorer

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/commit/committest"
	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// picture is a disk of the model and what its cells stand for.
type picture struct {
	cells [maxCells]cell
	n     uint8
	view  view
	recs  records
}

// Every disk that the model comes to is written as a real journal and a real
// state.json. The real store must judge each as the model does: the same last
// record, or damage.
func TestRealStoreJudgesAlike(t *testing.T) {
	pictures := map[picture]bool{}
	for _, b := range []Bounds{crashes(min(3, depth(3))), rot(min(2, depth(2)))} {
		for _, s := range exploreCommits(Protocol{}, b).states {
			pictures[picture{s.disk.cells, s.disk.n, s.disk.view, s.recs}] = true
		}
	}
	real := &forge{made: map[string]forged{}}
	damaged := 0
	for p := range pictures {
		want := Protocol{}.load(&p.recs, p.view, &p.cells, p.n)
		if want.why != healthy {
			damaged++
		}
		if diff := real.judge(t, p, want); diff != "" {
			t.Fatalf("%v: %s", disk{cells: p.cells, n: p.n, view: p.view, may: anything(), mayN: 1}, diff)
		}
	}
	t.Logf("%d disks, %d of them damaged", len(pictures), damaged)
}

func anything() (may [maxCells]uint16) {
	for i := range may {
		may[i] = 1
	}
	return may
}

// forge makes real bytes for records and views, by committing them for real.
type forge struct{ made map[string]forged }

type forged struct{ line, view []byte }

// chainOf lists a record and those before it, the first one first.
func chainOf(r *records, id uint8) (chain []uint8) {
	for ; id != 0; id = r[id].prev {
		chain = append([]uint8{id}, chain...)
	}
	return chain
}

func open(d durable.Disk) committest.Catalog {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return commit.NewFiles[committest.State, committest.Facts, committest.Event]("/state", committest.Counter{}, nil, commit.Options{
		Disk: d, Locks: locks.Local(), Now: func() time.Time { return at },
	})
}

func file(name string) string { return filepath.Join("/state", "runs", committest.ID(1), name) }

// record gives the line of a record, and the view that was published for it.
func (f *forge) record(t *testing.T, r *records, id uint8) forged {
	chain := chainOf(r, id)
	key := fmt.Sprint(chain)
	if made, ok := f.made[key]; ok {
		return made
	}
	d := durable.NewMem()
	s := committest.Start(t, open(d), "demo", 1)
	for _, id := range chain[1:] {
		committest.MustCommit(t, s, committest.Add{Who: "a", By: int(id)})
	}
	lines := bytes.SplitAfter(read(t, d, "run.events.jsonl"), []byte("\n"))
	made := forged{lines[len(lines)-2], read(t, d, "state.json")}
	f.made[key] = made
	return made
}

func read(t *testing.T, d durable.Disk, name string) []byte {
	t.Helper()
	data, err := durable.ReadFile(d, file(name), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// bytes gives a cell's content. Every half but those of the first record has
// one length.
func (f *forge) bytes(t *testing.T, p *picture, i uint8) []byte {
	model := uint8(1)
	if i > 1 {
		model = 2
	}
	like := model
	if c := p.cells[i]; c > junk && c != junkLine {
		like = uint8(c / 2)
	}
	rec := p.recs
	if rec[like].end == 0 {
		rec[like] = made{prev: 1, end: 4}
	}
	line := f.record(t, &rec, like).line
	half := line[:len(line)/2]
	if i%2 == 1 {
		half = line[len(line)/2:]
	}
	switch p.cells[i] {
	case empty:
		return make([]byte, len(half))
	case junk:
		return bytes.Repeat([]byte("X"), len(half))
	case junkLine:
		return append(bytes.Repeat([]byte("X"), len(half)-1), '\n')
	}
	return half
}

// judge lets the real store read a picture and says where it differs.
func (f *forge) judge(t *testing.T, p picture, want loaded) string {
	d := durable.NewMem()
	committest.Start(t, open(d), "demo", 1)
	var journal []byte
	for i := range p.n {
		journal = append(journal, f.bytes(t, &p, i)...)
	}
	shown := f.record(t, &p.recs, p.view.record()).view
	if !p.view.intact() {
		shown = shown[:len(shown)/2]
	}
	write(t, d, "run.events.jsonl", journal)
	write(t, d, "state.json", shown)
	s, err := open(d).Open(t.Context(), committest.ID(1))
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Read(t.Context())
	return differs(&p.recs, want, got, err)
}

func differs(r *records, want loaded, got commit.Snapshot[committest.State], err error) string {
	var damage *commit.DamagedError
	var two *commit.TwoWritersError
	chain := chainOf(r, want.last)
	sum := 0
	for _, id := range chain[min(1, len(chain)):] {
		sum += int(id)
	}
	switch isDamage := errors.As(err, &damage) || errors.As(err, &two); {
	case want.why != healthy && !isDamage:
		return fmt.Sprintf("the model sees damage (%v), the store says %v", want.why, err)
	case want.why != healthy:
		return ""
	case err != nil:
		return fmt.Sprintf("the model sees record %d, the store says %v", want.last, err)
	case got.Revision != uint64(len(chain)) || got.State.Count != sum:
		return fmt.Sprintf("the model sees records %v, the store revision %d with %+v", chain, got.Revision, got.State)
	}
	return ""
}

func write(t *testing.T, d durable.Disk, name string, data []byte) {
	t.Helper()
	f, err := d.OpenFile(file(name), os.O_RDWR|os.O_TRUNC|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(data, 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
