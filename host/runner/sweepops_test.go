package runner

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/spec-kitty/step-runner/host/archive"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// operation is one public operation that makes a record.
type operation struct {
	name    string
	kind    string // of that record
	project func(t *testing.T) string
	// ready takes a new project to where the operation can be made. What it gives
	// is made on any copy of that state.
	ready   func(t *testing.T, p *Project) func(p *Project) error
	method  string                                  // of Project, which it is one of
	costly  bool                                    // it runs a plugin: fewer operations of the disk are tried
	consent bool                                    // the user has consented to what the project may run and write
	after   func(root string, d durable.Disk) error // what else must hold in the end
}

func projectOf(missions string, files func() map[string]string) func(t *testing.T) string {
	return func(t *testing.T) string { return makeProject(t, missions, files()) }
}

func noFiles() map[string]string    { return nil }
func onePackage() map[string]string { return packages(1) }

// accepted is an answer as an error: nil only where the call was acknowledged.
func accepted(a Answer, err error) error {
	if err == nil && a.Kind == KindBlocked && !a.Recorded {
		err = errors.New(value(a.Reason))
	}
	return err
}

// next is a report as an operation.
func next(q Request) func(p *Project) error {
	return func(p *Project) error { return accepted(p.Next(context.Background(), q)) }
}

// operate is an operator's verb as an operation.
func operate(verb func(*Project, context.Context, OperatorRequest) (Answer, error), q OperatorRequest) func(p *Project) error {
	q.Mission, q.Actor = "m", "kim"
	return func(p *Project) error { return accepted(verb(p, context.Background(), q)) }
}

// tokenOf makes the first call of an agent, and gives the token of its work.
func tokenOf(t *testing.T, p *Project) string {
	t.Helper()
	return *must(t, p, report("a", cursor.Success)).Token
}

// handedOut gives an operation on a run whose first work is handed out.
func handedOut(do func(token string) func(p *Project) error) func(*testing.T, *Project) func(*Project) error {
	return func(t *testing.T, p *Project) func(*Project) error { return do(tokenOf(t, p)) }
}

// after gives an operation on a run that has gone through some reports.
func after(do func(p *Project) error, results ...cursor.Result) func(*testing.T, *Project) func(*Project) error {
	return func(t *testing.T, p *Project) func(*Project) error {
		for _, result := range results {
			must(t, p, report("a", result))
		}
		return do
	}
}

func operations() []operation {
	line, many := projectOf(linear, noFiles), projectOf(packaged, onePackage)
	ok := cursor.Success
	all := []operation{
		{name: "start", method: "Start", kind: "start", project: line, ready: after(func(p *Project) error {
			return accepted(p.Start(context.Background(), StartRequest{Slug: "m", Caller: Caller{Agent: "a"}}))
		})},
		{name: "start again", method: "Start", kind: "start", project: line, ready: func(t *testing.T, p *Project) func(*Project) error {
			must(t, p, report("a", ok))
			if err := operate((*Project).Abort, OperatorRequest{Reason: "wrong"})(p); err != nil {
				t.Fatal(err)
			}
			return func(p *Project) error {
				return accepted(p.Start(context.Background(), StartRequest{Slug: "m", Caller: Caller{Agent: "a"}, Again: true}))
			}
		}},
		{name: "advance", method: "Next", kind: "advance", project: line, ready: handedOut(func(token string) func(*Project) error { return next(report("a", ok, token)) })},
		{name: "report failed", method: "Next", kind: "advance", project: line, ready: handedOut(func(token string) func(*Project) error { return next(report("a", cursor.Failed, token)) })},
		{name: "retry", method: "Retry", kind: "retry", project: line, ready: after(operate((*Project).Retry, OperatorRequest{Reason: "again"}), ok, cursor.Failed)},
		{name: "skip", method: "Skip", kind: "skip", project: line, ready: after(operate((*Project).Skip, OperatorRequest{Step: "A", Reason: "not needed"}), ok)},
		{name: "release", method: "Release", kind: "release", project: line, ready: handedOut(func(token string) func(*Project) error {
			return operate((*Project).Release, OperatorRequest{Token: token, Reason: "gone"})
		})},
		{name: "abort", method: "Abort", kind: "abort", project: line, ready: after(operate((*Project).Abort, OperatorRequest{Reason: "wrong"}), ok)},
		{name: "rewind", method: "Rewind", kind: "rewind", project: line, ready: after(func(p *Project) error {
			_, refused, err := p.Rewind(context.Background(), RewindRequest{Mission: "m", Actor: "kim", Step: "A", Reason: "wrong"})
			if refused != nil {
				err = errors.New(value(refused.Reason))
			}
			return err
		}, ok, ok)},
		{name: "migrate", method: "Migrate", kind: "migrate", project: line, ready: func(t *testing.T, p *Project) func(*Project) error {
			must(t, p, report("a", ok))
			change(t, p.Config.Root, `{ id = "C" }`, `{ id = "new" }`)
			return func(p *Project) error {
				_, refused, err := p.Migrate(context.Background(), MigrateRequest{Mission: "m", Actor: "kim"})
				if refused != nil {
					err = errors.New(value(refused.Reason))
				}
				return err
			}
		}},
		{name: "claim", method: "WPClaim", kind: "claim", project: many, ready: func(t *testing.T, p *Project) func(*Project) error {
			tokenOf(t, p)
			if err := operate((*Project).WPRelease, OperatorRequest{Package: "WP01", Reason: "gone"})(p); err != nil {
				t.Fatal(err)
			}
			return func(p *Project) error {
				return accepted(p.WPClaim(context.Background(), ClaimRequest{Mission: "m", Caller: Caller{Agent: "b"}, Package: "WP01"}))
			}
		}},
		{name: "move", method: "WPMove", kind: "move", project: many, ready: after(operate((*Project).WPMove, OperatorRequest{Package: "WP01", To: "canceled", Force: true, Reason: "not needed"}), ok)},
		{name: "package release", method: "WPRelease", kind: "wp_release", project: many, ready: after(operate((*Project).WPRelease, OperatorRequest{Package: "WP01", Reason: "gone"}), ok)},
		{name: "package report", method: "Next", kind: "advance", project: many, ready: handedOut(func(token string) func(*Project) error { return next(report("a", ok, token)) })},
		{name: "import", method: "Import", kind: "start", project: line, ready: imported},
	}
	return slices.Concat(all, onQuestions(), onPlans(), onArtifacts())
}

// onQuestions are the operations on an open question.
func onQuestions() []operation {
	ask := projectOf(questions(1), noFiles)
	about := OperatorRequest{Decision: "input:q0", Reason: "not today"}
	answer := func(text string, replace bool) func(p *Project) error {
		return func(p *Project) error {
			q := Request{Mission: "m", Caller: Caller{Human: "kim"}, Answer: &text, Decision: "input:q0", Replace: replace}
			if replace {
				q.Reason = "a mistake"
			}
			return accepted(p.Decide(context.Background(), q))
		}
	}
	return []operation{
		{name: "answer", method: "Decide", kind: "answer", project: ask, ready: after(answer("yes", false), cursor.Success)},
		{name: "replace an answer", method: "Decide", kind: "answer", project: ask, ready: func(t *testing.T, p *Project) func(*Project) error {
			must(t, p, report("a", cursor.Success))
			if err := answer("yes", false)(p); err != nil {
				t.Fatal(err)
			}
			return answer("no", true)
		}},
		{name: "postpone", method: "Postpone", kind: "postpone", project: ask, ready: after(operate((*Project).Postpone, about), cursor.Success)},
	}
}

// imported takes in a run that was exported from a project of the same kind.
func imported(t *testing.T, _ *Project) func(*Project) error {
	from := open(t, makeProject(t, linear, nil))
	must(t, from, report("a", cursor.Success))
	run, err := from.Pack(t.Context(), "m")
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := archive.Write(&file, run); err != nil {
		t.Fatal(err)
	}
	return func(p *Project) error {
		_, err := p.Import(context.Background(), bytes.NewReader(file.Bytes()))
		return err
	}
}
