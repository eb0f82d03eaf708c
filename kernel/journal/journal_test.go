package journal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/journal"
)

var update = flag.Bool("update", false, "write the fixtures of the present format")

const run = "01JRUN"

var clock = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)

// chain makes n records, each with its place in the file.
func chain(t testing.TB, n int) (file []byte, recs []journal.Record) {
	t.Helper()
	prev := journal.NoDigest
	for i := range n {
		rec := journal.Record{
			Run: run, Revision: uint64(i + 1), At: clock.Add(time.Duration(i) * time.Millisecond),
			Actor: `agent "a" <x>`, Kind: "add", Prev: prev,
			Events: []json.RawMessage{fmt.Appendf(nil, `{"n":%d}`, i), json.RawMessage(`"ü\n"`)},
		}
		if i == 0 {
			rec.Subject = "a-slug"
		}
		line, digest := encode(t, rec)
		rec.Format, rec.Digest, rec.Line = journal.Format, digest, line[:len(line)-1]
		rec.Offset = int64(len(file))
		file = append(file, line...)
		rec.End = int64(len(file))
		recs, prev = append(recs, rec), digest
	}
	return file, recs
}

func encode(t testing.TB, rec journal.Record) ([]byte, string) {
	t.Helper()
	line, digest, err := journal.Encode(rec)
	if err != nil {
		t.Fatal(err)
	}
	return line, digest
}

// readAll reads until something ends it.
func readAll(file []byte, from journal.Position, floor int64) ([]journal.Record, journal.Position, error) {
	r := journal.NewReader(bytes.NewReader(file), int64(len(file)), from, floor)
	var out []journal.Record
	for {
		rec, err := r.Next()
		if err != nil {
			return out, r.Position(), err
		}
		rec.Line = bytes.Clone(rec.Line)
		out = append(out, rec)
	}
}

func TestRoundTrip(t *testing.T) {
	file, want := chain(t, 5)
	got, pos, err := readAll(file, journal.Position{Run: run}, 0)
	if err != io.EOF || pos.End != int64(len(file)) || pos.Revision != 5 {
		t.Errorf("ended at %+v: %v", pos, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	last, ok, err := journal.At(bytes.NewReader(file), want[4].Offset, want[4].End)
	if diff := cmp.Diff(want[4], last); !ok || err != nil || diff != "" {
		t.Errorf("%v, %v, %s", ok, err, diff)
	}
	first, err := journal.First(bytes.NewReader(file), int64(len(file)))
	if diff := cmp.Diff(want[0], first); err != nil || diff != "" {
		t.Errorf("%v, %s", err, diff)
	}
	rest, _, err := readAll(file, journal.Position{Run: run, Revision: 3, Digest: want[2].Digest, End: want[2].End}, want[2].End)
	if diff := cmp.Diff(want[3:], rest); err != io.EOF || diff != "" {
		t.Errorf("from the middle: %v, %s", err, diff)
	}
}

func TestEncodeRefuses(t *testing.T) {
	for _, events := range [][]json.RawMessage{
		{json.RawMessage(`{`)}, {json.RawMessage(``)}, {json.RawMessage(`1 2`)}, {json.RawMessage("\"\x98\"")}, {bytes.Repeat([]byte("1"), journal.MaxLine)},
	} {
		if _, _, err := journal.Encode(journal.Record{Run: run, Revision: 1, Events: events, Prev: journal.NoDigest}); err == nil {
			t.Errorf("%.20s passed", events)
		}
	}
	later := time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("", -2*3600))
	if line, _, err := journal.Encode(journal.Record{Run: run, Revision: 1, At: later, Prev: journal.NoDigest}); err == nil {
		t.Errorf("a year without a text passed: %s", line)
	}
}

// The fixtures of each format are read for ever.
func TestFixtures(t *testing.T) {
	file, want := chain(t, 3)
	const name = "testdata/format-1.jsonl"
	if *update {
		if err := os.WriteFile(name, file, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := readAll(kept, journal.Position{Run: run}, 0)
	if diff := cmp.Diff(want, got); err != io.EOF || diff != "" {
		t.Errorf("%v, %s", err, diff)
	}
	if !bytes.Equal(file, kept) {
		t.Error("the format that is written has changed: it needs a new number and a new fixture")
	}
}

// reseal gives a line a right digest.
func reseal(body string) []byte {
	// A record is encoded to learn how the seal looks, then its body replaced.
	return append([]byte(body+`,"digest":"`+sum(body)+`"}`), '\n')
}

// TestEnds is the table of docs/crash-model.md, section 4.
func TestEnds(t *testing.T) {
	file, recs := chain(t, 4)
	cut := func(i int) []byte { return bytes.Clone(file[:recs[i].Offset]) } // before record i+1
	line := func(i int) []byte { return bytes.Clone(file[recs[i].Offset:recs[i].End]) }
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	bad := line(2)
	bad[20] ^= 1
	zeros := line(2)
	clear(zeros[30:60])
	other := func(change func(*journal.Record)) []byte {
		rec := recs[2]
		change(&rec)
		l, _ := encode(t, rec)
		return l
	}
	half := line(2)[:40]

	tests := []struct {
		name  string
		file  []byte
		floor int64
		good  int           // records before the end
		class journal.Class // "" is a torn tail or none
	}{
		{"whole", file, 0, 4, ""},
		{"empty", nil, 0, 0, ""},
		{"half a line", join(cut(2), half), 0, 2, ""},
		{"a line without its end", join(cut(2), line(2)[:len(line(2))-1]), 0, 2, ""},
		{"a bad last line", join(cut(2), bad), 0, 2, ""},
		{"several bad lines", join(cut(2), bad, half, []byte("\n\n\n"), bad), 0, 2, ""},
		{"zero bytes at the end", join(cut(2), make([]byte, 5000)), 0, 2, ""},
		{"a line with zero bytes at the end", join(cut(2), zeros), 0, 2, ""},
		{"bad before good", join(cut(2), bad, line(3)), 0, 2, journal.BadLine},
		{"half before good", join(cut(2), half, []byte("\n"), line(3)), 0, 2, journal.BadLine},
		{"zero bytes before good", join(cut(2), make([]byte, 100), []byte("\n"), line(3)), 0, 2, journal.Zeros},
		{"zero bytes in a line before good", join(cut(2), zeros, line(3)), 0, 2, journal.Zeros},
		{"bad, and vouched for", join(cut(2), bad), recs[2].End, 2, journal.BadLine},
		{"shorter than vouched for", join(cut(2)), recs[2].End, 2, journal.Short},
		{"cut inside of what is vouched for", join(cut(2), half), recs[2].End, 2, journal.BadLine},
		{"empty, and vouched for", nil, recs[2].End, 0, journal.Short},
		{"a gap", join(cut(2), line(3)), 0, 2, journal.Gap},
		{"no beginning", line(1), 0, 0, journal.Gap},
		{"a revision twice", join(cut(3), line(2)), 0, 3, journal.Twice},
		{"an older revision", join(cut(3), line(0)), 0, 3, journal.Twice},
		{"another record of the revision", join(cut(3), other(func(r *journal.Record) { r.Actor = "peer" })), 0, 3, journal.Twice},
		{"a broken chain", join(cut(2), other(func(r *journal.Record) { r.Prev = journal.NoDigest })), 0, 2, journal.Chain},
		{"another run's record", join(cut(2), other(func(r *journal.Record) { r.Run = "01JOTHER" })), 0, 2, journal.Foreign},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, pos, err := readAll(tt.file, journal.Position{Run: run}, tt.floor)
			if len(got) != tt.good {
				t.Errorf("%d good records", len(got))
			}
			var d *journal.DamageError
			switch {
			case tt.class == "" && err != io.EOF:
				t.Errorf("error %v", err)
			case tt.class != "" && (!errors.As(err, &d) || d.Class != tt.class):
				t.Errorf("error %v, want class %s", err, tt.class)
			case d != nil && d.Line != uint64(tt.good+1):
				t.Errorf("line %d", d.Line)
			}
			if tt.good > 0 && pos.End != recs[tt.good-1].End {
				t.Errorf("position %+v", pos)
			}
		})
	}
}

// Fields and formats that are not known are kept for display and marked,
// never dropped.
func TestNewer(t *testing.T) {
	file, recs := chain(t, 2)
	line := string(recs[1].Line)
	body := line[:strings.LastIndex(line, `,"digest":`)]
	tests := map[string]string{
		"higher format":          strings.Replace(body, `"format":1`, `"format":2`, 1),
		"unknown field":          strings.Replace(body, `,"prev"`, `,"note":"x","prev"`, 1),
		"unknown field in front": strings.Replace(body, `,"revision"`, `,"note":"x","revision"`, 1),
		"another order":          strings.Replace(body, `"actor":"agent \"a\" \u003cx\u003e","kind":"add"`, `"kind":"add","actor":"a"`, 1),
		"something else":         `{"all":"new"`,
		"no object":              `[1`,
		"format below":           strings.Replace(body, `"format":1`, `"format":0`, 1),
		"not UTF-8":              strings.Replace(body, `"kind":"add"`, "\"kind\":\"add\x98\"", 1),
		"not UTF-8 in an event":  strings.Replace(body, `"events":[`, "\"events\":[\"\x98\",", 1),
		"a time beyond years":    strings.Replace(body, `"at":"2026-01-02T03:04:05.001000006Z"`, `"at":"9999-12-31T23:00:00-02:00"`, 1),
		"a control character":    strings.Replace(body, `"kind":"add"`, "\"kind\":\"a\tdd\"", 1),
	}
	for name, b := range tests {
		t.Run(name, func(t *testing.T) {
			if b == body {
				t.Fatal("the test changes nothing")
			}
			changed := reseal(b)
			all := append(bytes.Clone(file[:recs[0].End]), changed...)
			got, _, err := readAll(all, journal.Position{Run: run}, 0)
			if err != io.EOF || len(got) != 2 || got[1].Newer == "" || got[1].Revision != 2 {
				t.Fatalf("%v: %+v", err, got)
			}
			if string(got[1].Line)+"\n" != string(changed) {
				t.Error("the line changed")
			}
		})
	}
}

func TestLineTooLong(t *testing.T) {
	file, recs := chain(t, 2)
	long := bytes.Repeat([]byte("x"), journal.MaxLine+10)
	tail := append(bytes.Clone(file), long...)
	if got, _, err := readAll(tail, journal.Position{}, 0); err != io.EOF || len(got) != 2 {
		t.Errorf("at the end: %d, %v", len(got), err)
	}
	inside := append(append(append(bytes.Clone(file[:recs[0].End]), long...), '\n'), file[recs[1].Offset:]...)
	var d *journal.DamageError
	if got, _, err := readAll(inside, journal.Position{}, 0); !errors.As(err, &d) || d.Class != journal.BadLine || len(got) != 1 {
		t.Errorf("inside: %d, %v", len(got), err)
	}
}

// A place that does not hold exactly one good line holds none.
func TestAt(t *testing.T) {
	file, recs := chain(t, 3)
	r := bytes.NewReader(file)
	for _, place := range [][2]int64{
		{-1, 10}, {10, 10}, {10, 5}, {0, recs[1].End}, {1, recs[0].End}, {0, recs[0].End - 1},
		{recs[2].Offset, recs[2].End + 1}, {0, 1 << 60}, {1 << 60, 1<<60 + 5},
	} {
		if _, ok, err := journal.At(r, place[0], place[1]); ok || err != nil {
			t.Errorf("%v: %v, %v", place, ok, err)
		}
	}
}

func open(t testing.TB, disk durable.Disk, content []byte) durable.File {
	t.Helper()
	f, err := disk.OpenFile("/j", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(content, 0); err != nil {
		t.Fatal(err)
	}
	return f
}

func content(t testing.TB, disk durable.Disk) []byte {
	t.Helper()
	b, err := durable.ReadFile(disk, "/j", 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestAppend(t *testing.T) {
	file, recs := chain(t, 2)
	old, line := file[:recs[0].End], file[recs[1].Offset:]
	disk := durable.NewMem()
	f := open(t, disk, old)
	var moved *journal.MovedError
	if err := journal.Append(f, recs[0].End-1, line); !errors.As(err, &moved) {
		t.Errorf("somewhere else: %v", err)
	}
	if err := journal.Append(f, recs[0].End, line); err != nil || !bytes.Equal(content(t, disk), file) {
		t.Errorf("append: %v", err)
	}
}

// A full disk: whatever was written of the record is cut off again.
func TestShortAppendIsCutBack(t *testing.T) {
	file, recs := chain(t, 2)
	old, line := file[:recs[0].End], file[recs[1].Offset:]
	for short := range len(line) + 1 {
		mem := durable.NewMem()
		open(t, mem, old)
		faulty := &durable.Faulty{Disk: mem, Short: short, Fail: func(_ int, op durable.Op) error {
			if op.Kind == "write" {
				return errors.New("no space left on device")
			}
			return nil
		}}
		f, err := faulty.OpenFile("/j", os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		var cut *journal.CutError
		if err := journal.Append(f, recs[0].End, line); !errors.As(err, &cut) {
			t.Errorf("%d bytes written: %v", short, err)
		}
		if !bytes.Equal(content(t, mem), old) {
			t.Errorf("%d bytes written: not cut back", short)
		}
	}
}

// If the cut fails too, nobody may say that nothing was recorded.
func TestShortAppendThatCannotBeCut(t *testing.T) {
	file, recs := chain(t, 2)
	mem := durable.NewMem()
	open(t, mem, file[:recs[0].End])
	faulty := &durable.Faulty{Disk: mem, Short: 1 << 20, Fail: func(_ int, op durable.Op) error {
		if op.Kind == "write" || op.Kind == "truncate" {
			return durable.ErrInjected
		}
		return nil
	}}
	f, err := faulty.OpenFile("/j", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	var cut *journal.CutError
	if err := journal.Append(f, recs[0].End, file[recs[1].Offset:]); err == nil || errors.As(err, &cut) {
		t.Errorf("error %v", err)
	}
}

// A record whose sync failed is in memory only and marked clean: mending must
// write it again, since a further sync alone makes nothing durable.
func TestMendAfterFailedSync(t *testing.T) {
	file, recs := chain(t, 2)
	mem := durable.NewMem()
	f := open(t, mem, file[:recs[0].End])
	if err := errors.Join(f.Sync(), mem.SyncDir("/")); err != nil {
		t.Fatal(err)
	}
	fail := true
	faulty := &durable.Faulty{Disk: mem, Fail: func(_ int, op durable.Op) error {
		if op.Kind == "sync" && fail {
			fail = false
			return durable.ErrInjected
		}
		return nil
	}}
	g, err := faulty.OpenFile("/j", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := journal.Append(g, recs[0].End, file[recs[1].Offset:]); err != nil {
		t.Fatal(err)
	}
	if err := g.Sync(); err == nil {
		t.Fatal("the sync passed")
	}
	if err := g.Sync(); err != nil {
		t.Fatal(err)
	}
	if left := content(t, mem.Crash(512, durable.Nothing)); !bytes.Equal(left, file[:recs[0].End]) {
		t.Fatal("the disk of this test makes clean pages durable")
	}
	if err := journal.Mend(g, recs[1]); err != nil {
		t.Fatal(err)
	}
	if left := content(t, mem.Crash(512, durable.Nothing)); !bytes.Equal(left, file) {
		t.Error("not durable after it was mended")
	}
}

func TestMendCutsTheTail(t *testing.T) {
	file, recs := chain(t, 2)
	mem := durable.NewMem()
	f := open(t, mem, append(bytes.Clone(file), "half a rec"...))
	if err := errors.Join(journal.Mend(f, recs[1]), mem.SyncDir("/")); err != nil {
		t.Fatal(err)
	}
	if left := content(t, mem.Crash(512, durable.Nothing)); !bytes.Equal(left, file) {
		t.Errorf("left %q", left)
	}
}

// A reader of 100,000 records, 36 MB.
func BenchmarkRead100k(b *testing.B) {
	file, _ := chain(b, 100_000)
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		if recs, err := count(file); recs != 100_000 || err != io.EOF {
			b.Fatal(recs, err)
		}
	}
}

func count(file []byte) (int, error) {
	r := journal.NewReader(bytes.NewReader(file), int64(len(file)), journal.Position{}, 0)
	for n := 0; ; n++ {
		if _, err := r.Next(); err != nil {
			return n, err
		}
	}
}

// FuzzReader: any bytes end in records and then a tail or damage, never in a
// panic, and what is good is one chain.
func FuzzReader(f *testing.F) {
	file, recs := chain(f, 3)
	f.Add(file, int64(0))
	f.Add(file[:len(file)-5], int64(0))
	f.Add(append(bytes.Clone(file), 0, 0, 0), recs[2].End)
	f.Add([]byte("\n\n{}\n"), int64(3))
	f.Add([]byte(nil), int64(9))
	f.Fuzz(func(t *testing.T, data []byte, floor int64) {
		recs, pos, err := readAll(data, journal.Position{}, floor)
		var d *journal.DamageError
		if err != io.EOF && !errors.As(err, &d) {
			t.Fatalf("error %v", err)
		}
		for i, rec := range recs {
			if rec.Revision != uint64(i+1) || !journal.Good(rec.Line) {
				t.Fatalf("record %d: %+v", i, rec)
			}
		}
		if pos.End > int64(len(data)) {
			t.Fatalf("position %+v", pos)
		}
	})
}

// FuzzParse: a line with any body and a right digest is understood wholly or
// marked as newer; understood, it encodes to the same bytes.
func FuzzParse(f *testing.F) {
	_, recs := chain(f, 2)
	for _, r := range recs {
		line := string(r.Line)
		f.Add(line[:strings.LastIndex(line, `,"digest":`)])
	}
	first := string(recs[0].Line)
	first = first[:strings.LastIndex(first, `,"digest":`)]
	f.Add(strings.Replace(first, `"kind":"add`, "\"kind\":\"add\x98\x95", 1))
	f.Add(strings.Replace(first, `"at":"2026-01-02T03:04:05.000000006Z"`, `"at":"9999-12-31T23:00:00-02:00"`, 1))
	f.Add(`{"format":1`)
	f.Add(`{"format":18446744073709551616,"run":"\ud800"`)
	f.Fuzz(func(t *testing.T, body string) {
		line := bytes.TrimSuffix(reseal(body), []byte("\n"))
		rec, err := journal.Parse(line)
		if err != nil {
			t.Fatalf("a good line: %v", err)
		}
		if rec.Newer != "" {
			return
		}
		again, _, err := journal.Encode(rec)
		if err != nil {
			t.Fatalf("understood and not encoded: %v", err)
		}
		back, err := journal.Parse(again[:len(again)-1])
		// Spellings may differ (escapes, spaces); what they say may not.
		ignore := cmpopts.IgnoreFields(journal.Record{}, "Line", "Digest", "Events")
		if diff := cmp.Diff(rec, back, ignore); err != nil || diff != "" {
			t.Fatalf("%v, %s", err, diff)
		}
	})
}
