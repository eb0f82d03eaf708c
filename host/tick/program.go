package tick

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spec-kitty/step-runner/host/command"
	"github.com/spec-kitty/step-runner/host/internal/readonly"
	"github.com/spec-kitty/step-runner/host/loop"
)

// Judgement is what a gate, a verifier or a goal said.
type Judgement struct {
	Verdict command.Verdict
	Detail  string // in a sentence
	Digest  string // of what it said, so that the same again is known as such
}

// variables are what every program of a run is told.
func (r *running) variables(part string) map[string]string {
	told := map[string]string{
		"SPEC_KITTY_LOOP": r.name, "SPEC_KITTY_LOOP_PART": part, "SPEC_KITTY_LOOP_TOKEN": itoa(r.token),
		variable: mark(r.uid, r.token), "SPEC_KITTY_ROOT": r.l.ground.Root,
	}
	if r.folder != nil {
		told["SPEC_KITTY_LOOP_USAGE"] = filepath.Join(r.folder.path, usageName)
	}
	if r.base.ID != "" {
		told["SPEC_KITTY_LOOP_BASE"] = r.base.ID
	}
	if r.result.ID != "" {
		told["SPEC_KITTY_LOOP_RESULT"] = r.result.ID
	}
	return told
}

func (l *Loops) environ(pass []string, told map[string]string) []string {
	return command.Environ(pass, told, func(name string) (string, bool) {
		value := l.getenv(name)
		return value, value != ""
	})
}

// argv finds the loop's own scripts beside its definition, never in a worktree:
// what the work changes there is not what judges it.
func (s Source) argv(run []string) []string {
	out := append([]string(nil), run...)
	if len(out) > 0 && isScript(out[0]) {
		out[0] = filepath.Join(filepath.Dir(s.File), filepath.FromSlash(out[0]))
	}
	return out
}

// isScript tells whether the first word of a program is a path relative to the
// definition, not a name to be looked up.
func isScript(word string) bool {
	return strings.ContainsRune(word, '/') && !filepath.IsAbs(word)
}

// part is a program of a run to be started.
type part struct {
	name    string // gate, setup, work, verify, goal, notify
	argv    []string
	dir     string
	stdin   []byte
	timeout time.Duration
	grace   time.Duration
	session bool
	pass    []string // variables of ours, in place of those that the definition passes
	started func(command.Process) error
}

// run runs a program with its output in a file of the run's folder; without a run,
// as of a check by hand, the output is in the result.
func (r *running) run(ctx context.Context, p part) (command.Result, error) {
	if p.pass == nil {
		p.pass = r.src.Work.PassEnv
	}
	c := command.Command{
		Name: p.name, Argv: p.argv, Dir: p.dir, Env: r.l.environ(p.pass, r.variables(p.name)), Stdin: p.stdin, Timeout: p.timeout, KillGrace: p.grace,
		Session: p.session, Started: p.started,
	}
	if r.folder == nil {
		return command.Run(ctx, c), nil
	}
	log, err := r.folder.create(p.name + logSuffix)
	if err != nil {
		return command.Result{}, err
	}
	defer log.Close()
	c.Log = log
	return command.Run(ctx, c), nil
}

// ask asks a check: a program, a declared command or a plugin.
func (r *running) ask(ctx context.Context, name string, c loop.Check, dir string, started func(command.Process) error) (Judgement, error) {
	if c.Plugin != "" {
		return r.l.ground.Guard(ctx, c.Plugin, Question{Loop: r.name, UID: r.uid, Part: name, Token: r.token, Dir: dir})
	}
	p := part{name: name, argv: r.src.argv(c.Run), dir: dir, timeout: c.Timeout, grace: r.src.Work.KillGrace, session: started != nil, started: started}
	if c.Command != "" {
		declared, err := r.l.ground.Command(c.Command)
		if err != nil {
			return Judgement{}, err
		}
		p.argv, p.pass = declared.Argv, declared.PassEnv
		if p.timeout == 0 {
			p.timeout = declared.Timeout
		}
	}
	done, err := r.run(ctx, p)
	if err != nil {
		return Judgement{}, err
	}
	if cause := context.Cause(ctx); cause != nil && ctx.Err() != nil {
		return Judgement{}, cause
	}
	if done.End == command.NotStarted && isOurs(done.Err) {
		return Judgement{}, done.Err
	}
	return r.judgement(name, done), nil
}

// judgement is what the end of a check's program says. The time that it took is no part
// of the digest: a check that refuses for the same reason is as quick or slow as it is.
func (r *running) judgement(name string, done command.Result) Judgement {
	tail := r.tail(name)
	if r.folder == nil {
		tail = string(done.Stdout.Kept) + string(done.Stderr.Kept)
	}
	j := Judgement{Verdict: done.Verdict(), Detail: name + ": " + done.String(), Digest: sum(fmt.Sprintf("%s %d %s\n%s", done.End, done.Exit, done.Signal, tail))}
	if last := lastLine(tail); j.Verdict != command.Allow && last != "" {
		j.Detail += ", its last line: " + last
	}
	return j
}

// isOurs tells an error of our own commit, which kept a program from being let go,
// from one of the system.
func isOurs(err error) bool {
	return errors.As(err, new(*loop.Refusal)) || errors.As(err, new(*notLetGo))
}

// notLetGo is why a program that was started was not let go.
type notLetGo struct{ err error }

func (e *notLetGo) Error() string { return e.err.Error() }
func (e *notLetGo) Unwrap() error { return e.err }

// tail is the end of a program's log.
func (r *running) tail(name string) string {
	const most = 4 << 10
	if r.folder == nil {
		return ""
	}
	f, info, err := readonly.Open(r.folder.root, name+logSuffix)
	if err != nil {
		return ""
	}
	defer f.Close()
	buf := make([]byte, min(info.Size(), most))
	n, _ := f.ReadAt(buf, info.Size()-int64(len(buf)))
	return string(buf[:n])
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	}
	if len(text) > 200 {
		text = text[:200] + "…"
	}
	return strings.ToValidUTF8(strings.TrimSpace(text), "\ufffd")
}

func sum(text string) string {
	digest := sha256.Sum256([]byte(text))
	return hex.EncodeToString(digest[:])
}

// ScriptDigests are the SHA-256 of those of a definition's programs that are paths
// beside it.
func ScriptDigests(d *loop.Definition, file string) (map[string]string, error) {
	found := map[string]string{}
	s := Source{File: file}
	for _, run := range programs(d) {
		if len(run) == 0 || !isScript(run[0]) {
			continue
		}
		path := s.argv(run)[0]
		digest, err := ProgramDigest(path)
		if err != nil {
			return nil, err
		}
		found[path] = digest
	}
	return found, nil
}

// maxProgram is the greatest size of a program whose digest is taken, in bytes.
const maxProgram = 1 << 30

// ProgramDigest is the SHA-256 of a program's file, in lower-case hexadecimal. What is no
// regular file, such as a pipe, is an error, and is not waited for.
func ProgramDigest(path string) (string, error) {
	raw, _, err := readonly.Path(path, maxProgram)
	if err != nil {
		return "", err
	}
	return sum(string(raw)), nil
}

// programs are the argvs of a definition.
func programs(d *loop.Definition) [][]string {
	all := [][]string{d.Work.Run, d.Worktree.Setup, d.Notify.Run}
	for _, c := range []*loop.Check{d.Gate, d.Goal} {
		if c != nil {
			all = append(all, c.Run)
		}
	}
	if d.Verify != nil {
		all = append(all, d.Verify.Run)
	}
	return all
}
