package mission

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/template"
	"unicode/utf8"
)

// MaxPrompt is the greatest length of a rendered prompt, in bytes.
const MaxPrompt = 1 << 20

// PromptData is what a prompt's template sees, and all it sees. Texts in it
// are inserted as they are and never read as templates. Using anything that is
// not set, such as an input without a value or Package at a step that has none,
// is an error.
type PromptData struct {
	Run      RunData
	Mission  MissionData
	Step     StepData
	Inputs   map[string]string
	Package  *PackageData // nil where no package is handed out
	Feedback string       // why the last attempt was sent back; empty on a first one
	Report   string       // the command line to report with
}

// RunData is .Run in a prompt. Standing alone it is the run's id.
type RunData struct{ ID string }

// MissionData is .Mission in a prompt. Standing alone it is the slug.
type MissionData struct {
	Slug   string
	Type   string
	Dir    string // the mission's folder
	Number string // without zeros; empty where the folder has none
}

// StepData is .Step in a prompt. Standing alone it is the step's id.
type StepData struct {
	ID          string
	Title       string
	Description string
	Action      string
	Question    string // an audit's
	Attempt     int    // from 1
}

// PackageData is .Package in a prompt. Standing alone it is the package's id.
type PackageData struct {
	ID    string
	Title string
	Body  string // the package file's text after its front matter
	Path  string
}

func (r RunData) String() string      { return r.ID }
func (m MissionData) String() string  { return m.Slug }
func (s StepData) String() string     { return s.ID }
func (p *PackageData) String() string { return p.ID }

// PromptError says why a prompt could not be read or rendered.
type PromptError struct {
	Path string // the prompt's file; empty for one in the definition itself
	Line int    // in the prompt's text, from 1; 0 where not known
	Why  string
	Near string // the known name that is nearest to the undefined one
}

func (e *PromptError) Error() string {
	text := e.place(": ") + e.Why
	if e.Path == "" {
		text = "prompt: " + text
	}
	if e.Near != "" {
		text += "; did you mean " + e.Near + "?"
	}
	return text
}

// place is the file and line, as far as known, and end after them.
func (e *PromptError) place(end string) string {
	place := e.Path
	if e.Line > 0 {
		if place != "" {
			place += ", "
		}
		place += "line " + strconv.Itoa(e.Line)
	}
	if place != "" {
		place += end
	}
	return place
}

// Render makes the text that a step's holder works from. Without a prompt it
// is title, description, package, feedback and report command. The text is
// never empty and at most MaxPrompt bytes; errors are *PromptError.
func Render(p *Prompt, data PromptData) (string, error) {
	text, err := renderAny(p, data)
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	switch {
	case err != nil:
		return "", err
	case strings.TrimSpace(text) == "":
		return "", p.fault(0, "it comes out empty")
	case len(text) > MaxPrompt:
		return "", p.fault(0, tooLong)
	}
	return text, nil
}

func renderAny(p *Prompt, data PromptData) (string, error) {
	switch {
	case p == nil:
		return plainPrompt(data), nil
	case p.Literal:
		return p.Text, nil
	}
	t, err := p.parse()
	if err != nil {
		return "", err
	}
	out := new(cappedText)
	if err := t.Execute(out, data); err != nil {
		return "", p.templateError(err)
	}
	return out.String(), nil
}

const tooLong = "it comes out longer than 1 MiB"

// cappedText takes MaxPrompt bytes and then refuses, which ends the template.
type cappedText struct{ strings.Builder }

func (c *cappedText) Write(text []byte) (int, error) {
	if c.Len()+len(text) > MaxPrompt {
		return 0, errors.New(tooLong)
	}
	return c.Builder.Write(text)
}

var _ io.Writer = (*cappedText)(nil)

// parse reads the template anew each time: one call of the program renders one
// prompt, so there is nothing to keep.
func (p *Prompt) parse() (*template.Template, error) {
	t, err := template.New("prompt").Option("missingkey=error").Funcs(cappedFuncs()).Parse(p.Text)
	if err != nil {
		return nil, p.templateError(err)
	}
	return t, nil
}

// cappedFuncs stands before those builtins that make new text. The output's
// cap does not see text that is doubled in a variable, forty times over.
func cappedFuncs() template.FuncMap {
	capped := func(make func(...any) string) func(...any) (string, error) {
		return func(args ...any) (string, error) {
			text := make(args...)
			if len(text) > MaxPrompt {
				return "", errors.New(tooLong)
			}
			return text, nil
		}
	}
	return template.FuncMap{
		"print":    capped(fmt.Sprint),
		"println":  capped(fmt.Sprintln),
		"html":     capped(template.HTMLEscaper),
		"js":       capped(template.JSEscaper),
		"urlquery": capped(template.URLQueryEscaper),
		"printf": func(format string, args ...any) (string, error) {
			return capped(func(args ...any) string { return fmt.Sprintf(format, args...) })(args...)
		},
	}
}

// templateError makes text/template's error ours: its text says "template:
// prompt:LINE:COLUMN: …" or "template: prompt:LINE: …".
func (p *Prompt) templateError(err error) error {
	text := strings.TrimPrefix(err.Error(), "template: prompt:")
	var line, column int
	if n, _ := fmt.Sscanf(text, "%d:%d:", &line, &column); n >= 1 {
		_, text, _ = strings.Cut(text, ":")
		if n == 2 {
			_, text, _ = strings.Cut(text, ":")
		}
	}
	text = strings.TrimSpace(text)
	text = strings.TrimPrefix(text, `executing "prompt" at `)
	return p.fault(line, "%s", text)
}

func (p *Prompt) fault(line int, format string, args ...any) *PromptError {
	e := &PromptError{Line: line, Why: fmt.Sprintf(format, args...)}
	if p != nil {
		e.Path = p.Path
	}
	return e
}
