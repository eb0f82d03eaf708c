package runner

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
)

// The two who want to be what comes after a finished run. Each tells whether it was
// carried out, and whether it had to wait.
func successors(t *testing.T) map[string]func(p *Project) (done, busy bool) {
	return map[string]func(p *Project) (bool, bool){
		"rewind": func(p *Project) (bool, bool) {
			made, refused, err := p.Rewind(t.Context(), RewindRequest{Mission: "m", Actor: "kim", Step: "C", Reason: "r"})
			return answered(t, made.Applied, refused, err, Code(cursor.NothingToRewind))
		},
		"start": func(p *Project) (bool, bool) {
			a, err := p.Start(t.Context(), StartRequest{Slug: "m", Caller: Caller{Agent: "a"}, Again: true})
			return answered(t, a.Recorded, &a, err, CodeRunExists)
		},
	}
}

// answered is false where a call was refused, by the one code that may be.
func answered(t *testing.T, done bool, a *Answer, err error, code Code) (bool, bool) {
	t.Helper()
	known := new(Error)
	switch {
	case errors.As(err, &known) && known.Code == code:
		if known.Next() == "" {
			t.Errorf("no way on: %v", err)
		}
		return false, false
	case err == nil && done:
		return true, false
	case err == nil && a != nil && value(a.ReasonCode) == string(LockTimeout):
		return false, true
	}
	t.Fatalf("%v, %v", a, err)
	return false, false
}

// A rewind of a finished run beside `run start --again`: one is stopped at each of
// its named points while the other goes through. As one after the other, exactly one
// of them is carried out, and one run is live.
func TestRewindBesideAStartAgain(t *testing.T) {
	calls := successors(t)
	for stopped, points := range map[string][]string{
		"rewind": {PointRead, commit.PointLockAcquired, commit.PointBeforeAppend, commit.PointAfterAppend, commit.PointAfterSync,
			commit.PointBeforePublish, commit.PointAfterPublish, commit.PointBeforeRelease, commit.PointReleased},
		"start": {commit.PointStartLocked, commit.PointStartPrivate, commit.PointStartSynced, commit.PointStartFollows,
			commit.PointStartMarked, commit.PointStartRenamed, commit.PointStartIndexed, commit.PointStartReleased},
	} {
		other := map[string]string{"rewind": "start", "start": "rewind"}[stopped]
		for _, point := range points {
			t.Run(stopped+"/"+point, func(t *testing.T) {
				root := makeProject(t, linear, nil)
				file := filepath.Join(root, "spec-kitty.toml")
				write(t, file, read(t, file)+"\n[runtime]\nlock_timeout = \"20ms\"\n")
				peer := open(t, root)
				for range 4 {
					must(t, peer, report("a", cursor.Success))
				}
				var done, busy, met bool
				caller := open(t, root, peerAt(point, func() {
					met = true
					done, busy = calls[other](peer)
				}), func(o *Options) { o.Commit.Hook = o.Hook })
				first, waited := calls[stopped](caller)
				if busy {
					done, busy = calls[other](peer)
				}
				if !met || waited || busy || first == done {
					t.Fatalf("%s was carried out: %v (had to wait: %v), %s: %v (%v); met the point: %v", stopped, first, waited, other, done, busy, met)
				}
				wantOneLive(t, open(t, root), first == (stopped == "start"))
			})
		}
	}
}

// wantOneLive wants the runs that there should be, and the live one to be found.
func wantOneLive(t *testing.T, p *Project, followed bool) {
	t.Helper()
	rows, err := p.List(t.Context())
	live := ""
	for _, row := range rows {
		if !over(row.MissionState) {
			live += row.RunID
		}
	}
	a, qerr := p.Query(t.Context(), "m", Caller{})
	if err != nil || qerr != nil || value(a.RunID) != live || len(rows) != map[bool]int{false: 1, true: 2}[followed] {
		t.Errorf("runs %+v, %v; found %q, %v", rows, err, value(a.RunID), qerr)
	}
	wantSound(t, p)
}
