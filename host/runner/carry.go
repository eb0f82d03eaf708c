package runner

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spec-kitty/step-runner/host/archive"
	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/lanes"
	"github.com/spec-kitty/step-runner/host/mission"
	"github.com/spec-kitty/step-runner/plugins/abi"
)

// Export is a run that was written into one file.
type Export struct {
	Schema      int    `json:"schema"`
	RunID       string `json:"run_id"`
	MissionSlug string `json:"mission_slug"`
	MissionType string `json:"mission_type"`
	Revision    uint64 `json:"revision"`
	Digest      string `json:"digest"`   // of the last record
	Exported    string `json:"exported"` // the file; "-": standard output
	Bytes       int64  `json:"bytes"`
	SHA256      string `json:"sha256"` // of the file
}

// Import is a run that was taken in.
type Import struct {
	Schema      int       `json:"schema"`
	RunID       string    `json:"run_id"`
	MissionSlug string    `json:"mission_slug"`
	MissionType string    `json:"mission_type"`
	Revision    uint64    `json:"revision"`
	Digest      string    `json:"digest"`
	Imported    bool      `json:"imported"` // false: it was here already, the same
	Warnings    []Warning `json:"warnings"`
}

// Pack gives one run as it is carried: its latest of a mission, or the one of an
// id. What is not sound is not carried. It takes no lock and writes nothing.
func (p *Project) Pack(ctx context.Context, name string) (archive.Run, error) {
	run, err := p.pack(ctx, name)
	return run, classify(err)
}

func (p *Project) pack(ctx context.Context, name string) (archive.Run, error) {
	id, _, err := p.toRepair(ctx, name)
	if err != nil {
		return archive.Run{}, err
	}
	store, err := p.runs.Open(ctx, id)
	if err != nil {
		return archive.Run{}, err
	}
	defer store.Close()
	snap, err := store.Read(ctx)
	if err != nil {
		return archive.Run{}, err
	}
	report, err := store.Verify(ctx)
	if err != nil {
		return archive.Run{}, err
	}
	if len(report.Problems) > 0 {
		return archive.Run{}, report.Problems[0]
	}
	run := archive.Run{ID: id, Mission: snap.Subject, Type: snap.State.Type, Frozen: map[string][]byte{}}
	if err := packRecords(ctx, store, &run); err != nil {
		return archive.Run{}, err
	}
	return run, packFrozen(ctx, store, &run)
}

func packRecords(ctx context.Context, store Store, run *archive.Run) error {
	return store.Records(ctx, 0, func(rec commit.Record[cursor.Event]) error {
		run.Journal = append(append(run.Journal, rec.Line...), '\n')
		run.Revision, run.Digest = rec.Revision, rec.Digest
		if len(run.Journal) > archive.MaxSize {
			return fail(CodeUsage, "carry the run's folder itself", "the history of run %s is larger than an archive may be (%d bytes)", run.ID, archive.MaxSize)
		}
		return nil
	})
}

func packFrozen(ctx context.Context, store Store, packed *archive.Run) error {
	wanted, err := frozenFiles(ctx, store)
	if err != nil {
		return &commit.DamagedError{File: "run " + packed.ID, Line: 1, Why: err.Error()}
	}
	for name, sum := range wanted {
		data, err := blobOf(store, name)
		if err == nil && hexSum(data) != sum {
			err = errNotFrozen
		}
		if err != nil && isIndex(name) { // a view: what it was is made anew
			data, err = (&run{store: store}).indexAnew(name, wanted)
		}
		if err != nil {
			return &commit.DamagedError{File: name + " of run " + packed.ID, Why: err.Error()}
		}
		packed.Frozen[name] = data
	}
	return nil
}

// Import takes in a run out of an archive, as it is: its history, its frozen
// files, its open work with its tokens. It is verified whole before anything is
// made, and durable when Import returns without error. A run that is here with
// another history is refused, and nothing is changed.
func (p *Project) Import(ctx context.Context, from io.Reader) (Import, error) {
	done, err := p.unpack(ctx, from)
	return done, classify(err)
}

func (p *Project) unpack(ctx context.Context, from io.Reader) (Import, error) {
	run, err := archive.Read(from)
	if err != nil {
		return Import{}, badArchive(err)
	}
	if err := errors.Join(mission.CheckName(run.Mission), mission.CheckName(run.ID)); err != nil {
		return Import{}, badArchive(fmt.Errorf("its mission or run has no name that can be one: %w", err))
	}
	w := commit.Whole{ID: run.ID, Subject: run.Mission, Journal: run.Journal, Blobs: run.Frozen}
	snap, err := inspect(ctx, w)
	if err != nil {
		return Import{}, badArchive(err)
	}
	done := Import{Schema: Schema, RunID: run.ID, MissionSlug: run.Mission, MissionType: snap.State.Type,
		Revision: snap.Revision, Digest: snap.Digest, Warnings: []Warning{}}
	if snap.Revision != run.Revision || snap.Digest != run.Digest || snap.State.Type != run.Type {
		return Import{}, badArchive(errors.New("its manifest speaks of another history than it holds"))
	}
	receiver, ok := p.runs.(commit.Receiver)
	if !ok {
		return Import{}, errors.New("this store takes in no runs")
	}
	var warnings []commit.Warning
	if done.Imported, warnings, err = receiver.Receive(ctx, w); err != nil {
		return Import{}, p.notReceived(ctx, err)
	}
	for _, warning := range warnings {
		done.Warnings = append(done.Warnings, Warning{Code: warning.Code, Message: warning.Message})
	}
	if !p.missing(&done) {
		p.prompt(ctx, &done)
	}
	return done, nil
}

// prompt writes the prompts of the run's open work, which archives do not carry.
// The run is here already: what keeps a prompt from being written is a warning.
func (p *Project) prompt(ctx context.Context, done *Import) {
	_, failed, err := p.mendPrompts(ctx, done.RunID)
	if err != nil {
		failed = []Warning{{commit.WarnViewNotWritten, "the prompts of the open work were not written: " + err.Error()}}
	}
	done.Warnings = append(done.Warnings, failed...)
}

// inspect reads the run in memory: chain, fold, frozen files.
func inspect(ctx context.Context, w commit.Whole) (commit.Snapshot[cursor.State], error) {
	var none commit.Snapshot[cursor.State]
	store, err := commit.Unpack(machine{}, w)
	if err != nil {
		return none, err
	}
	report, err := store.Verify(ctx)
	if err == nil && len(report.Problems) > 0 {
		err = report.Problems[0]
	}
	if err != nil {
		return none, err
	}
	if problems := frozenProblems(ctx, store, false); len(problems) > 0 {
		return none, errors.New(problems[0].why)
	}
	if err := store.Records(ctx, 0, soundArtifacts); err != nil {
		return none, err
	}
	return store.Read(ctx)
}

// soundArtifacts refuses a record whose artifacts no executor could have left: we
// never record a path that leads out of the project, or that is not clean.
func soundArtifacts(rec commit.Record[cursor.Event]) error {
	for _, e := range rec.Events {
		report, ok := e.Event.(cursor.Reported)
		if !ok {
			continue
		}
		for _, a := range report.Artifacts {
			if why := abi.PathFault(a.Path); why != "" {
				return &commit.DamagedError{File: "the journal", Line: rec.Revision, Why: fmt.Sprintf("the artifact %q is no file of a project: %s", a.Path, why)}
			}
		}
	}
	return nil
}

// missing warns where the run has come without what it works on.
func (p *Project) missing(done *Import) bool {
	_, err := lanes.Load(p.Config.SpecsDir(), done.MissionSlug)
	if err != nil {
		done.Warnings = append(done.Warnings, Warning{Code: "mission_missing",
			Message: fmt.Sprintf("the mission's folder is not here yet (%v): bring it before going on", err)})
	}
	return err != nil
}

func badArchive(err error) error {
	var newer *archive.NewerError
	var newerRecord *commit.NewerFormatError
	switch {
	case errors.As(err, &newer), errors.As(err, &newerRecord):
		return &Error{Code: CodeNewerFormat, Message: err.Error(), NextStep: "use the newer version of spec-kitty", Err: err}
	case fromSystem(err):
		return err
	}
	return &Error{Code: CodeStateDamaged, Message: err.Error(), NextStep: "export the run again; nothing was changed here", Err: err}
}

func (p *Project) notReceived(ctx context.Context, err error) error {
	var taken *commit.TakenError
	var exists *commit.ExistsError
	switch {
	case errors.As(err, &exists):
		return p.notBeside(ctx, exists)
	case !errors.As(err, &taken):
		return err
	}
	next := "nothing was changed; the run that is here is the newer one"
	switch {
	case taken.Diverged:
		next = "nothing was changed. Decide which of the two goes on: to use the other one, move runs/" + taken.ID + " out of the state folder, then import again"
	case taken.Given > taken.Have:
		next = "nothing was changed. If no one works on the run that is here, move runs/" + taken.ID + " out of the state folder, then import again"
	}
	return &Error{Code: CodeRunExists, Message: err.Error(), NextStep: next, Err: err}
}

// notBeside says how the run that is here stands, and what lets the other one in. One
// that began before a run which is over comes in for the record only, when it is over.
func (p *Project) notBeside(ctx context.Context, e *commit.ExistsError) error {
	var row RunRow
	if err := p.fillRow(ctx, e.ID, &row); err != nil {
		return err
	}
	known := fail(CodeRunExists, "nothing was changed. End the run that is here, or finish it, then import again",
		"mission %s has the run %s here, which is at %s: two runs that are not over cannot stand side by side", e.Slug, e.ID, row.MissionState)
	known.Recover = []string{"spec-kitty help abort"}
	if over(row.MissionState) {
		known.Message = fmt.Sprintf("mission %s has the run %s here, which is at %s and began after the one that is given, which is not over", e.Slug, e.ID, row.MissionState)
		known.NextStep = "nothing was changed. End or finish the given run where it came from, export it there again, then import that"
		known.Recover = nil
	}
	known.Err = e
	return known
}
