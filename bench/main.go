// Command bench measures the step runner as multiples of a floor: a bare Go
// program (bench/floor) that makes the same system calls. Programs that are
// compared run in the same rounds, in an order shuffled anew in each, and the
// medians are compared; nothing is dropped. It prints one row for each promise
// with its bar, and ends with exit code 1 if a bar is missed.
//
//	go run ./bench [-rows next,eight] [-rounds 200] [-quick] [-json] [-dir DIR]
//
// The figures mean something on a machine that does nothing else, on the kind
// of disk that the state will lie on: see -dir. Where processors are busy, what
// computes looks dearer than it is, and the waits are those of the scheduler.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/spec-kitty/step-runner/host/sandbox"
)

// options are the command line.
type options struct {
	rows   []string // names of groups; none: all
	rounds int
	quick  bool
	json   bool
	dir    string
}

// maxRounds is for how many the generated missions have steps.
const maxRounds = lintedRuns * perMission * 9 / 10

// errMissed says that a bar was missed; the table says which.
var errMissed = errors.New("a bar was missed")

func main() {
	sandbox.ChildMain() // a plugin is compiled in a child of this program
	if len(os.Args) > 1 && os.Args[1] == workerWord {
		exit(workerMain(os.Args[2:]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o, err := parse(os.Args[1:])
	if err == nil {
		err = bench(ctx, o, os.Stdout, os.Stderr)
	}
	exit(err)
}

func exit(err error) {
	switch {
	case err == nil:
		os.Exit(0)
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	}
	fmt.Fprintln(os.Stderr, "bench:", err)
	if errors.Is(err, errMissed) {
		os.Exit(1)
	}
	os.Exit(2)
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	rows := f.String("rows", "", "groups to measure, by comma: "+strings.Join(groupNames(), ", "))
	f.IntVar(&o.rounds, "rounds", 0, "rounds of whole processes (200; 40 with -quick)")
	f.BoolVar(&o.quick, "quick", false, "about a minute; without the row that needs long")
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.StringVar(&o.dir, "dir", os.TempDir(), "folder on the disk to measure on")
	if err := f.Parse(args); err != nil {
		return o, flag.ErrHelp
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if *rows != "" {
		o.rows = strings.Split(*rows, ",")
	}
	for _, name := range o.rows {
		if !slices.Contains(groupNames(), name) {
			return o, fmt.Errorf("there is no row %q; there are %s", name, strings.Join(groupNames(), ", "))
		}
	}
	if o.rounds < 0 || o.rounds > maxRounds {
		return o, fmt.Errorf("%d rounds are too many: at most %d", o.rounds, maxRounds)
	}
	if o.rounds == 0 {
		o.rounds = 200
		if o.quick {
			o.rounds = 40
		}
	}
	return o, nil
}

// wants tells whether a group is to be measured.
func (o options) wants(g group) bool {
	if len(o.rows) > 0 {
		return slices.Contains(o.rows, g.name)
	}
	return !(o.quick && g.long)
}

// bench measures and prints.
func bench(ctx context.Context, o options, out, log io.Writer) (err error) {
	b, err := newBed(ctx, o, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	t := table{Disk: fileSystem(b.dir), Rounds: o.rounds}
	for _, g := range groups() {
		if o.wants(g) {
			b.say("%s", g.name)
			rows, err := g.measure(b)
			if err != nil {
				return fmt.Errorf("%s: %w", g.name, err)
			}
			for _, r := range rows {
				t.Rows = append(t.Rows, r.judged())
			}
		}
	}
	if err := t.print(out, o.json); err != nil {
		return err
	}
	if t.missed() {
		return errMissed
	}
	return nil
}

// group is a set of rows that are measured together.
type group struct {
	name    string
	long    bool // not with -quick
	measure func(*bed) ([]row, error)
}

func groups() []group {
	return []group{
		{name: "syncs", measure: syncsPerAdvance},
		{name: "version", measure: versionRows},
		{name: "next", measure: nextRows},
		{name: "plugin", measure: pluginRows},
		{name: "goplugin", measure: goPluginRows, long: true},
		{name: "commit", measure: commitRows},
		{name: "eight", measure: eightRows},
		{name: "growth", measure: growthRows},
		{name: "loop", measure: loopRows},
	}
}

func groupNames() []string {
	var names []string
	for _, g := range groups() {
		names = append(names, g.name)
	}
	return names
}
