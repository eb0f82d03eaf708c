package runner

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
)

// What people do to the state's folder with copies, backups and merges is told
// apart and named; field case 14.

// findings are the codes that doctor has for a run.
func findings(t *testing.T, p *Project, run string) []string {
	t.Helper()
	var codes []string
	for _, f := range diagnose(t, p).Findings {
		if f.RunID == run {
			codes = append(codes, f.Code)
		}
	}
	return codes
}

func runFolder(t *testing.T, root string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, ".kittify", "step-runner", "runs", "*"))
	if err != nil || len(found) == 0 {
		t.Fatalf("run folders: %v %v", found, err)
	}
	return found[len(found)-1]
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// A copy whose name sorts behind its run's, as that of a backup does, is not what an
// index that is made anew leads to.
func TestIndexBesideABackup_Case14(t *testing.T) {
	root := makeProject(t, linear, nil)
	p := open(t, root)
	wantStep(t, must(t, p, report("a", cursor.Success)), "A")
	folder := runFolder(t, root)
	copyTree(t, folder, folder+".bak")
	for _, f := range diagnose(t, open(t, root)).Findings {
		if f.Code == "index_entry" {
			t.Errorf("the index is believed wrong: %+v", f)
		}
	}
	if err := os.RemoveAll(filepath.Join(filepath.Dir(filepath.Dir(folder)), "index")); err != nil {
		t.Fatal(err)
	}
	wantStep(t, must(t, open(t, root), report("a", cursor.Success)), "B")
	wantStep(t, must(t, open(t, root), report("a", cursor.Success)), "C")
}

func TestCopyOfARunFolder_Case14(t *testing.T) {
	root := makeProject(t, linear, nil)
	p := open(t, root)
	wantStep(t, must(t, p, report("a", cursor.Success)), "A")
	folder := runFolder(t, root)
	other := filepath.Join(filepath.Dir(folder), "01ARZ3NDEKTSV4RRFFQ69G5FAV")
	copyTree(t, folder, other)

	wantStep(t, must(t, open(t, root), report("a", cursor.Success)), "B")
	rows, err := p.List(t.Context())
	if err != nil || len(rows) != 2 {
		t.Fatalf("%+v %v", rows, err)
	}
	for _, row := range rows {
		if copied := row.RunID == filepath.Base(other); row.Damaged != copied || copied && !strings.Contains(row.Error, "it is the journal of the run "+filepath.Base(folder)) {
			t.Errorf("%+v", row)
		}
	}
	if codes := findings(t, p, filepath.Base(folder)); len(codes) > 0 {
		t.Errorf("the run itself: %v", codes)
	}
}

// A backup without the newest run beside an index that has it.
func TestOlderRunsBesideANewerIndex_Case14(t *testing.T) {
	root := makeProject(t, linear, nil)
	p := open(t, root)
	for _, step := range []string{"A", "B", "C"} {
		wantStep(t, must(t, p, report("a", cursor.Success)), step)
	}
	if a := must(t, p, report("a", cursor.Success)); a.Kind != KindTerminal {
		t.Fatalf("%+v", a)
	}
	first := filepath.Base(runFolder(t, root))
	if _, err := p.Start(t.Context(), StartRequest{Slug: "m", Again: true, Caller: Caller{Agent: "a"}}); err != nil {
		t.Fatal(err)
	}
	second := runFolder(t, root)
	aside := filepath.Join(t.TempDir(), "second")
	if err := os.Rename(second, aside); err != nil {
		t.Fatal(err)
	}

	a, err := open(t, root).Query(t.Context(), "m", Caller{})
	if err != nil || value(a.RunID) != first {
		t.Fatalf("%+v %v", a, err)
	}
	warned := slices.ContainsFunc(a.Warnings, func(w Warning) bool {
		return w.Code == commit.WarnRunMissing && strings.Contains(w.Message, filepath.Base(second))
	})
	if !warned {
		t.Errorf("nothing says that the later run is gone: %+v", a.Warnings)
	}
	if codes := findings(t, p, filepath.Base(second)); !slices.Equal(codes, []string{commit.WarnRunMissing}) {
		t.Errorf("doctor: %v", codes)
	}
	if err := os.Rename(aside, second); err != nil {
		t.Fatal(err)
	}
	if a, err := open(t, root).Query(t.Context(), "m", Caller{}); err != nil || value(a.RunID) != filepath.Base(second) || len(a.Warnings) > 0 {
		t.Errorf("after it was put back: %+v %v", a, err)
	}
}

// A backup from before the run was started.
func TestNoRunsBesideAnIndex_Case14(t *testing.T) {
	root := makeProject(t, linear, nil)
	wantStep(t, must(t, open(t, root), report("a", cursor.Success)), "A")
	gone := runFolder(t, root)
	if err := os.RemoveAll(gone); err != nil {
		t.Fatal(err)
	}
	wantMissing(t, root, filepath.Base(gone))
	a, err := open(t, root).Start(t.Context(), StartRequest{Slug: "m", Again: true, Caller: Caller{Agent: "a"}})
	if err != nil || len(a.Warnings) > 0 {
		t.Fatalf("%+v %v", a.Warnings, err)
	}
	wantStep(t, a, "A")
	if a := must(t, open(t, root), report("a", cursor.Success)); len(a.Warnings) > 0 {
		t.Errorf("said again of the new run: %+v", a.Warnings)
	}
}

// The journal and the state of a backup, put back into the folder.
func TestOlderJournalPutBack_Case14(t *testing.T) {
	root := makeProject(t, linear, nil)
	p := open(t, root)
	wantStep(t, must(t, p, report("a", cursor.Success)), "A")
	folder := runFolder(t, root)
	journal, state := read(t, filepath.Join(folder, "run.events.jsonl")), read(t, filepath.Join(folder, "state.json"))
	b := must(t, p, report("a", cursor.Success))
	wantStep(t, b, "B")

	write(t, filepath.Join(folder, "run.events.jsonl"), journal)
	if _, err := open(t, root).Query(t.Context(), "m", Caller{}); err == nil || err.(*Error).Code != CodeStateDamaged {
		t.Errorf("the journal alone: %v", err)
	}
	write(t, filepath.Join(folder, "state.json"), state)
	p = open(t, root)
	if codes := findings(t, p, filepath.Base(folder)); !slices.Equal(codes, []string{"put_back"}) {
		t.Errorf("both: %v", codes)
	}
	wantBlocked(t, must(t, p, report("a", cursor.Success, *b.Token)), string(cursor.StaleToken))
}

// Two journals that went different ways, joined as a union merge does.
func TestUnionMergedJournal_Case14(t *testing.T) {
	root := makeProject(t, linear, nil)
	wantStep(t, must(t, open(t, root), report("a", cursor.Success)), "A")
	folder := runFolder(t, root)
	path := filepath.Join(folder, "run.events.jsonl")
	base := read(t, path)
	state := read(t, filepath.Join(folder, "state.json"))
	wantStep(t, must(t, open(t, root), report("a", cursor.Success)), "B")
	ours := read(t, path)
	write(t, path, base)
	write(t, filepath.Join(folder, "state.json"), state)
	wantStep(t, must(t, open(t, root), report("a", cursor.Success)), "B")
	theirs := read(t, path)

	merged := ours + strings.TrimPrefix(theirs, base)
	write(t, path, merged)
	for name, remove := range map[string]bool{"with the state": false, "without it": true} {
		if remove {
			if err := os.Remove(filepath.Join(folder, "state.json")); err != nil {
				t.Fatal(err)
			}
		}
		_, err := open(t, root).Query(t.Context(), "m", Caller{})
		if err == nil || err.(*Error).Code != CodeTwoWriters && err.(*Error).Code != CodeStateDamaged {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := open(t, root).Query(t.Context(), "m", Caller{}); err.(*Error).Code != CodeTwoWriters {
		t.Errorf("the journal alone: %v", err)
	}
	if got := read(t, path); got != merged {
		t.Error("the bytes were touched")
	}
}

// What lies in the place of a lock is mended by no copy of the run: what to do says
// what is. Here the index is gone too, so that a commit needs it.
func TestFolderInPlaceOfTheIndexLock_Row30(t *testing.T) {
	root := makeProject(t, linear, nil)
	wantStep(t, must(t, open(t, root), report("a", cursor.Success)), "A")
	state := filepath.Join(root, ".kittify", "step-runner")
	lock := filepath.Join(state, "index.lock")
	if err := errors.Join(os.RemoveAll(filepath.Join(state, "index")), os.Remove(lock), os.Mkdir(lock, 0o755)); err != nil {
		t.Fatal(err)
	}
	_, err := open(t, root).Next(t.Context(), report("a", cursor.Success))
	var known *Error
	if !errors.As(err, &known) || known.Code != CodeStateDamaged || !strings.HasPrefix(known.NextStep, "remove it") {
		t.Errorf("%+v", err)
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	wantStep(t, must(t, open(t, root), report("a", cursor.Success)), "B")
}

// wantMissing holds that nothing begins another run while the folder of a mission's
// run is away, and that whoever looks is told. Starts of other missions keep it so.
func wantMissing(t *testing.T, root, id string) {
	t.Helper()
	answer := report("a", "")
	answer.Answer = new(string)
	token := report("a", cursor.Success)
	token.Token = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
	look := func() {
		t.Helper()
		p := open(t, root)
		for name, q := range map[string]Request{"success": report("a", cursor.Success), "failed": report("a", cursor.Failed), "token": token, "answer": answer} {
			if a, err := p.Next(t.Context(), q); !isMissing(err, id) {
				t.Errorf("%s: %+v %v", name, a, err)
			}
		}
		_, err := p.Start(t.Context(), StartRequest{Slug: "m"})
		_, queried := p.Query(t.Context(), "m", Caller{})
		_, shown := p.Show(t.Context(), "m")
		for name, err := range map[string]error{"start": err, "query": queried, "show": shown} {
			if !isMissing(err, id) {
				t.Errorf("%s: %v", name, err)
			}
		}
		rows, err := p.List(t.Context())
		named := func(r RunRow) bool {
			return r.RunID == id && r.Damaged && strings.HasPrefix(r.Error, "run_missing: ") && strings.Contains(r.NextStep, "--again")
		}
		if err != nil || !slices.ContainsFunc(rows, named) {
			t.Errorf("list: %+v %v", rows, err)
		}
		if _, broken, err := p.Status(t.Context(), ""); err != nil || !slices.ContainsFunc(broken, named) {
			t.Errorf("status: %+v %v", broken, err)
		}
		if codes := findings(t, p, id); !slices.Equal(codes, []string{commit.WarnRunMissing}) {
			t.Errorf("doctor: %v", codes)
		}
	}
	look()
	for _, other := range []string{"other1", "other2"} {
		if _, err := open(t, root).Start(t.Context(), StartRequest{Slug: other, Type: "t"}); err != nil {
			t.Fatal(err)
		}
		look()
	}
}

func isMissing(err error, id string) bool {
	known := new(Error)
	return errors.As(err, &known) && known.Code == CodeRunMissing && strings.Contains(known.Message, id) && strings.Contains(known.NextStep, "--again")
}

// A run's folder that is put back after its mission was started anew: two runs that
// are not over, of which the older one is named, looked at and ended by its id.
func TestTwoLiveRuns_Case14(t *testing.T) {
	root := makeProject(t, linear, nil)
	begun := must(t, open(t, root), report("a", cursor.Success))
	wantStep(t, begun, "A")
	first := runFolder(t, root)
	older, aside := filepath.Base(first), filepath.Join(t.TempDir(), "first")
	if err := os.Rename(first, aside); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, root).Start(t.Context(), StartRequest{Slug: "m", Again: true, Caller: Caller{Agent: "a"}}); err != nil {
		t.Fatal(err)
	}
	later := filepath.Base(runFolder(t, root))
	if err := os.Rename(aside, first); err != nil {
		t.Fatal(err)
	}
	p := open(t, root)
	late := report("a", cursor.Success)
	late.Token = *begun.Token
	told := func(w Warning) bool { return w.Code == "two_live_runs" && strings.Contains(w.Message, older) }
	if a := must(t, p, late); value(a.ReasonCode) != string(cursor.StaleToken) || !slices.ContainsFunc(a.Warnings, told) {
		t.Errorf("a report on the older run's token: %+v", a)
	}
	if codes := findings(t, p, older); !slices.Equal(codes, []string{"two_live_runs"}) {
		t.Errorf("doctor: %v", codes)
	}
	for _, id := range []string{older, strings.ToLower(older)} {
		if o, err := p.Show(t.Context(), id); err != nil || value(o.RunID) != older || o.MissionSlug != "m" {
			t.Errorf("%+v %v", o, err)
		}
		if v, err := p.Verify(t.Context(), id); err != nil || v.RunID != older || !v.Sound {
			t.Errorf("%+v %v", v, err)
		}
		if packed, err := p.Pack(t.Context(), id); err != nil || packed.ID != older {
			t.Errorf("%v %v", packed.ID, err)
		}
	}
	if a, err := p.Abort(t.Context(), OperatorRequest{Mission: older, Actor: "human:x", Reason: "put back by mistake"}); err != nil || value(a.RunID) != older || a.MissionState != string(cursor.Aborted) {
		t.Errorf("%+v %v", a, err)
	}
	p = open(t, root)
	if a := must(t, p, late); slices.ContainsFunc(a.Warnings, told) {
		t.Errorf("after the older one was ended: %+v", a.Warnings)
	}
	if codes := findings(t, p, older); len(codes) > 0 {
		t.Errorf("doctor, after the older one was ended: %v", codes)
	}
	if a, err := p.Query(t.Context(), "m", Caller{Agent: "a"}); err != nil || value(a.RunID) != later || value(a.StepID) != "A" {
		t.Errorf("%+v %v", a, err)
	}
	if _, err := p.Show(t.Context(), "01ARZ3NDEKTSV4RRFFQ69G5FAV"); err == nil || err.(*Error).Code != CodeMissionNotFound {
		t.Errorf("the id of no run: %v", err)
	}
}
