package commit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/journal"
)

// Verify implements Store. It takes no lock; damage counts only if two looks
// in a row see the same.
func (s *run[S, F, E]) Verify(ctx context.Context) (report Report, err error) {
	_ = twice(ctx, func() error {
		report, err = s.verifyOnce(ctx)
		return errors.Join(append(report.Problems, err)...)
	})
	if err == nil {
		err = ctx.Err() // it may have ended before a second look
	}
	return report, err
}

func (s *run[S, F, E]) verifyOnce(ctx context.Context) (Report, error) {
	v, _ := s.readView()
	report := Report{View: s.viewStatus(v)}
	j, err := s.readable()
	if damaged := new(DamagedError); errors.As(err, &damaged) {
		report.Problems = append(report.Problems, damaged)
		return report, nil
	}
	if err != nil {
		return report, err
	}
	defer j.Close()
	size, err := j.Size()
	if err != nil {
		return report, err
	}
	if v != nil {
		if err := s.compare(j, size, v); err != nil {
			report.Problems = append(report.Problems, err)
		}
	}
	err = s.verifyAll(ctx, j, size, v, &report)
	report.Tail = max(size-report.Length, 0)
	return report, err
}

// viewStatus is what can be said of the view on its own.
func (s *run[S, F, E]) viewStatus(v *view) string {
	if v != nil && v.Evolve == s.machine.Version() {
		return ViewBehind // until the record that it names is met as the last one
	}
	if _, err := s.opts.Disk.Stat(s.viewPath()); err != nil {
		return ViewMissing
	}
	return ViewIgnored
}

// verifyAll folds the whole journal and compares the state where the view has
// one.
func (s *run[S, F, E]) verifyAll(ctx context.Context, j durable.File, size int64, v *view, report *Report) error {
	r := journal.NewReader(j, size, journal.Position{Run: s.id}, floorOf(v))
	state, subject, known := s.machine.Zero(), "", true
	problem := func(err error) { report.Problems = append(report.Problems, err) }
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		rec, err := r.Next()
		if errors.Is(err, io.EOF) || isShort(err) && len(report.Problems) > 0 { // which compare told already
			break
		}
		if err := s.damage(err); isDamage(err) {
			problem(err)
			return nil
		}
		if err != nil {
			return err
		}
		report.Records, report.Length = rec.Revision, rec.End
		if !known {
			continue
		}
		if err := s.evolve(&state, rec); err != nil {
			problem(err)
			known = false
			continue
		}
		subject = cmp.Or(rec.Subject, subject)
		if v != nil && report.View == ViewBehind && rec.Revision == v.Revision {
			if err := s.compareState(state, subject, v); err != nil {
				problem(err)
				report.View = ViewIgnored
			}
		}
	}
	if report.Records == 0 {
		problem(&DamagedError{File: s.journalPath(), Line: 1, Why: "it has no good first record"})
	}
	if v != nil && report.View == ViewBehind && v.Length == report.Length {
		report.View = ViewCurrent
	}
	return nil
}

// isShort tells a journal that lost its end.
func isShort(err error) bool {
	d := new(journal.DamageError)
	return errors.As(err, &d) && d.Class == journal.Short
}

// compareState holds what an intact view says of the run against the journal folded
// up to the record that it names. Where they differ the journal, which has that
// record, is right.
func (s *run[S, F, E]) compareState(folded S, subject string, v *view) error {
	wrong := func(why string) error {
		return &DamagedError{File: s.viewPath(), Why: why, View: true, Fix: "move it away, it is made anew from the journal"}
	}
	var have S
	if err := json.Unmarshal(v.State, &have); err != nil {
		return wrong(err.Error())
	}
	same, err := equal(folded, have)
	if err != nil {
		return err
	}
	if !same || subject != v.Subject {
		return wrong(fmt.Sprintf("it differs from the journal folded up to revision %d", v.Revision))
	}
	return nil
}

// equal tells whether two states are one, as they are kept.
func equal[S any](a, b S) (bool, error) {
	one, err := json.Marshal(a)
	if err != nil {
		return false, fmt.Errorf("encode the state: %w", err)
	}
	other, err := json.Marshal(b)
	if err != nil {
		return false, fmt.Errorf("encode the state: %w", err)
	}
	return bytes.Equal(one, other), nil
}
