package tick

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spec-kitty/step-runner/host/command"
)

// doctorTimeout bounds the look at one loop.
const doctorTimeout = 2 * time.Minute

// Doctor makes the preflight of loops as their scheduled ticks would find things:
// in a process of its own that has the PATH of the installed schedule, or where there
// is none that of the caller, and of the rest of an environment only what every
// scheduler gives. args are those of a call of this program that prints the
// Diagnosis of one loop, in the environment that it has.
func (l *Loops) Doctor(ctx context.Context, names []string, args func(name string) []string) (Diagnosis, error) {
	d := Diagnosis{Schema: ReportSchema, Healthy: true, Preflight: []Preflight{}}
	program, err := l.program()
	if err != nil {
		return d, fmt.Errorf("the path of this program cannot be told: %w", err)
	}
	for _, name := range names {
		path := l.scheduledPath(ctx, name)
		p := l.away(ctx, append([]string{program}, args(name)...), name, path)
		d.Preflight = append(d.Preflight, p)
		d.Healthy = d.Healthy && p.Ready
	}
	return d, ctx.Err()
}

// scheduledPath is the PATH that a loop's scheduled ticks have.
func (l *Loops) scheduledPath(ctx context.Context, name string) string {
	if o, err := l.open(ctx, name); err == nil {
		defer o.close()
		if n, err := l.readNote(name, o.state.UID); err == nil && n != nil {
			return n.Job.Path
		}
	}
	return l.getenv("PATH")
}

// away makes a preflight in a bare environment.
func (l *Loops) away(ctx context.Context, argv []string, name, path string) Preflight {
	bare := l.environ([]string{"HOME", "USER", "LOGNAME"}, map[string]string{"PATH": path, "SHELL": "/bin/sh"})
	done := command.Run(ctx, command.Command{Argv: argv, Dir: l.ground.Root, Env: bare, Timeout: doctorTimeout})
	var d Diagnosis
	if err := json.Unmarshal(done.Stdout.Kept, &d); err == nil && len(d.Preflight) == 1 {
		return d.Preflight[0]
	}
	p := Preflight{Loop: name, Path: path, Checks: []PreflightCheck{}}
	text := "this program, started as a scheduler would, gives no answer: " + done.String()
	if last := lastLine(string(done.Stderr.Kept) + string(done.Stdout.Kept)); last != "" {
		text += ", its last line: " + last
	}
	p.add("start", LevelFault, text, "see what that line says")
	return p
}
