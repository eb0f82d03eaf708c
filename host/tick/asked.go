package tick

import (
	"context"
	"strings"

	"github.com/spec-kitty/step-runner/host/loop"
)

// Row is one thing that is shown, and what it is called.
type Row struct{ Name, Text string }

// Described is what a request is about, in words: the programs that would start, or
// what would land. The digests of the request say the same to a program.
func (l *Loops) Described(ctx context.Context, name string, s loop.Subject) ([]Row, error) {
	if s.Stage == loop.ToLand {
		return l.landing(ctx, s)
	}
	src, err := l.ground.Source(name)
	if err != nil {
		return nil, err
	}
	if src.Digest != s.Definition {
		return []Row{{"changed", "the definition, or a script of it, is not the one that was asked about: the next tick asks anew"}}, nil
	}
	title, err := l.repo.Title(ctx, s.Base)
	if err != nil {
		return nil, err
	}
	rows := []Row{{"begins at", title}, {"defined in", src.File}}
	for _, p := range l.starts(src) {
		if p.Text != "" {
			rows = append(rows, p)
		}
	}
	return rows, nil
}

// starts are the programs of a run, in their order; "" for those that there are not.
func (l *Loops) starts(src Source) []Row {
	var verify *loop.Check
	if src.Verify != nil {
		verify = &src.Verify.Check
	}
	return []Row{
		{"setup", strings.Join(src.Worktree.Setup, " ")}, {"work", strings.Join(src.Work.Run, " ")},
		{"verify", l.checkText(verify)}, {"goal", l.checkText(src.Goal)},
	}
}

func (l *Loops) checkText(c *loop.Check) string {
	switch {
	case c == nil:
		return ""
	case c.Plugin != "":
		return "plugin " + c.Plugin
	case c.Command != "":
		return "command " + c.Command
	}
	return strings.Join(c.Run, " ")
}

// landing is what would land, file by file.
func (l *Loops) landing(ctx context.Context, s loop.Subject) ([]Row, error) {
	title, err := l.repo.Title(ctx, s.Result)
	if err != nil {
		return nil, err
	}
	changed, err := l.repo.Changed(ctx, s.Base, s.Result)
	if err != nil {
		return nil, err
	}
	rows := []Row{{"lands", title}}
	const most = 20
	for i, file := range changed {
		if i == most {
			return append(rows, Row{"changes", itoa(uint64(len(changed)-most)) + " more files"}), nil
		}
		rows = append(rows, Row{"changes", file})
	}
	return rows, nil
}
