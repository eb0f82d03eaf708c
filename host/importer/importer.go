// Package importer turns a mission type of the Python program, YAML as it is
// used there, into one of ours. It is pure: bytes in, files and notes out. What
// it accepts, Definition.Check accepts too, and it promises to drop nothing in
// silence: what has no place in a definition of ours is a note with its line.
// What is no mission type is refused, all of it at once, with line and column.
package importer

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spec-kitty/step-runner/host/mission"
)

// File is a file that is read, or one to be written.
type File struct {
	Name string // of a file read: as messages show it; of a file to be written: relative, with slashes
	Data []byte
}

// Source is what is imported. Files without a Name are not there.
type Source struct {
	Definition File    // a mission-runtime.yaml, or a mission.yaml
	Machine    File    // the mission.yaml beside a mission-runtime.yaml
	Artifacts  File    // the expected-artifacts.yaml beside either
	Prompts    []fs.FS // where prompts are looked for, in this order; also in their folders prompts, templates and command-templates
	Folder     string  // the folder's name: the key, where nothing else says one
	Key        string  // the type's key; "": what the definition says
}

// Result is a mission type of ours.
type Result struct {
	Definition   mission.Definition
	Files        []File   // mission.toml, then prompts/…; in the order of the steps
	Notes        []Note   // in the order of the files and lines
	WithoutGuard []string // ids of steps that whoever reports success completes
}

// Note is something that a person should know about the import.
type Note struct {
	Code    Code
	File    string // of the source
	Line    int    // from 1
	Column  int    // from 1
	Step    string // our id; "" where it is about the whole type
	Message string
}

// Code says what kind of note it is.
type Code string

// The codes of notes.
const (
	LeftOut Code = "left_out" // it has no place here
	Changed Code = "changed"  // it says something else than it did
	Stub    Code = "stub"     // a prompt was missing, and one was written
	NoGuard Code = "no_guard" // a step that nothing checks
)

// Problem is one reason to refuse a source.
type Problem struct {
	File    string
	Line    int // from 1; 0: the whole file
	Column  int // from 1; 0: the whole line
	Path    string
	Message string
	Near    string // the known name that is nearest, if any is near
}

func (p Problem) String() string {
	at := p.File
	if p.Line > 0 {
		at += fmt.Sprintf(":%d:%d", p.Line, p.Column)
	}
	if p.Path != "" {
		at += ": " + p.Path
	}
	out := at + ": " + p.Message
	if p.Near != "" {
		out += "; did you mean " + p.Near + "?"
	}
	return out
}

// RefusedError lists all that is wrong with a source, in the order of the files
// and lines.
type RefusedError struct{ Problems []Problem }

func (e *RefusedError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Import reads a source. The error is a *RefusedError.
func Import(src Source) (*Result, error) {
	in := &importing{src: src, ids: map[string]string{}}
	in.definition()
	if len(in.problems) == 0 {
		in.check()
	}
	if len(in.problems) > 0 {
		slices.SortStableFunc(in.problems, func(a, b Problem) int {
			return cmp.Or(in.fileOrder(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		return nil, &RefusedError{Problems: in.problems}
	}
	unguarded := in.unguarded()
	slices.SortStableFunc(in.notes, func(a, b Note) int {
		return cmp.Or(in.fileOrder(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	toml := File{Name: DefinitionFile, Data: in.toml()}
	return &Result{Definition: in.def, Files: append([]File{toml}, in.files...), Notes: in.notes, WithoutGuard: unguarded}, nil
}

// DefinitionFile is the name of the file that holds the definition.
const DefinitionFile = "mission.toml"

// importing is one import under way.
type importing struct {
	src      Source
	def      mission.Definition
	steps    []source          // where each step of def comes from
	ids      map[string]string // ids of the source to ours
	deps     [][]int           // of each step, the positions it waits for
	files    []File
	problems []Problem
	notes    []Note

	promptDir string // prompt_template_dir of the definition
	questions map[string]string
	commands  map[string]string // what mission.yaml says of its commands
}

// source is where a step comes from, and what Definition does not hold of it.
type source struct {
	table    table
	metadata map[string]any
	prompt   string // its text, as it was; "": none
	file     string // where the text shall lie, below prompts; "": in the definition
}

func (in *importing) problem(at place, path, near, format string, args ...any) {
	in.problems = append(in.problems, Problem{File: at.file, Line: at.line, Column: at.column, Path: path, Near: near, Message: fmt.Sprintf(format, args...)})
}

func (in *importing) note(code Code, at place, step, format string, args ...any) {
	in.notes = append(in.notes, Note{Code: code, File: at.file, Line: at.line, Column: at.column, Step: step, Message: fmt.Sprintf(format, args...)})
}

// fileOrder sorts the definition first, then what lies beside it.
func (in *importing) fileOrder(a, b string) int {
	rank := func(name string) int {
		for i, f := range []File{in.src.Definition, in.src.Machine, in.src.Artifacts} {
			if f.Name == name {
				return i
			}
		}
		return 3
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
}

// unguarded names the steps that nothing checks.
func (in *importing) unguarded() []string {
	ids := []string{}
	for pos, step := range in.def.Steps {
		blocking := step.Blocking()
		if len(step.Guards) == 0 && step.Packages == nil && !blocking {
			ids = append(ids, step.ID)
			in.note(NoGuard, in.steps[pos].table.place, step.ID, "nothing checks what is reported: a success completes it")
		}
	}
	return ids
}
