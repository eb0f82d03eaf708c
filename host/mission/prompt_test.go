package mission

import (
	"errors"
	"strings"
	"testing"
)

func promptData() PromptData {
	return PromptData{
		Run:      RunData{ID: "01HRUN"},
		Mission:  MissionData{Slug: "034-pay", Type: "software-dev", Dir: "/p/kitty-specs/034-pay", Number: "34"},
		Step:     StepData{ID: "implement", Title: "Implementation", Description: "Build it", Action: "implement", Attempt: 2},
		Inputs:   map[string]string{"db": "sqlite"},
		Package:  &PackageData{ID: "WP01", Title: "Core", Body: "Do {{.Nothing}} & <that>\n", Path: "/p/tasks/WP01.md"},
		Feedback: "No tests",
		Report:   "spec-kitty next --result success",
	}
}

func TestRender(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"fields": {"{{.Run.ID}} {{.Mission.Slug}} {{.Mission.Type}} {{.Mission.Dir}} {{.Mission.Number}} {{.Step.ID}} {{.Step.Title}} {{.Step.Description}} {{.Step.Action}} {{.Step.Attempt}} {{.Feedback}} {{.Report}}",
			"01HRUN 034-pay software-dev /p/kitty-specs/034-pay 34 implement Implementation Build it implement 2 No tests spec-kitty next --result success"},
		"alone":            {"{{.Run}} {{.Mission}} {{.Step}} {{.Package}}", "01HRUN 034-pay implement WP01"},
		"input":            {"{{.Inputs.db}}", "sqlite"},
		"optional input":   {`{{with index .Inputs "owner"}}{{.}}{{else}}nobody{{end}}`, "nobody"},
		"all inputs":       {"{{range $k, $v := .Inputs}}{{$k}}={{$v}};{{end}}", "db=sqlite;"},
		"package text":     {"{{.Package.ID}} {{.Package.Title}}: {{.Package.Body}}", "WP01 Core: Do {{.Nothing}} & <that>\n"},
		"if and builtins":  {`{{if and .Feedback (gt .Step.Attempt 1)}}{{printf "%q" .Feedback}}{{end}}`, `"No tests"`},
		"sub-template":     {`{{define "x"}}[{{.}}]{{end}}{{template "x" .Run.ID}}`, "[01HRUN]"},
		"feedback guarded": {"{{with .Feedback}}Mend: {{.}}{{end}}", "Mend: No tests"},
	} {
		p := &Prompt{Text: c.text}
		if err := p.Check(Step{ID: "implement", Packages: &PackageRule{}}); err != nil {
			t.Errorf("%s: refused: %v", name, err)
		}
		if got, err := Render(p, promptData()); err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
}

func TestRenderPlain(t *testing.T) {
	const want = `# Implementation

Build it

## WP01 Core

Do {{.Nothing}} & <that>

/p/tasks/WP01.md

## What came back

No tests

## When it is done

spec-kitty next --result success
`
	if got, err := Render(nil, promptData()); err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	if got, err := Render(nil, PromptData{Step: StepData{ID: "x"}}); err != nil || got != "# x\n" {
		t.Errorf("the least there is: %q, %v", got, err)
	}
	literal := &Prompt{Text: "{{.Nothing}}", Literal: true}
	if got, err := Render(literal, promptData()); err != nil || got != "{{.Nothing}}" || literal.Check(Step{}) != nil {
		t.Errorf("as it is: %q, %v", got, err)
	}
}

// TestRenderFails: anything undefined is an error, with its place, and nothing
// grows without bounds.
func TestRenderFails(t *testing.T) {
	long := strings.Repeat("{{.Report}}", 40_000)
	doubling := `{{$a := "0123456789abcdef"}}` + strings.Repeat(`{{$a = print $a $a}}`, 40)
	for name, c := range map[string]struct{ text, want string }{
		"missing input":     {"a\n{{.Inputs.owner}}", `p.md, line 2: <.Inputs.owner>: map has no entry for key "owner"`},
		"no package":        {"{{.Package.ID}}", `p.md, line 1: <.Package.ID>: nil pointer evaluating *mission.PackageData.ID`},
		"undefined":         {"{{.Foo}}", `p.md, line 1: <.Foo>: can't evaluate field Foo in type mission.PromptData`},
		"syntax":            {"{{if}}", `p.md, line 1: missing value for if`},
		"unknown function":  {`{{exec "ls"}}`, `p.md, line 1: function "exec" not defined`},
		"empty":             {"{{if .Inputs}}{{end}} ", `p.md: it comes out empty`},
		"too long":          {long, `p.md: it comes out longer than 1 MiB`},
		"doubled in memory": {doubling, `p.md, line 1: <print $a $a>: error calling print: it comes out longer than 1 MiB`},
	} {
		data := promptData()
		data.Package = nil
		got, err := Render(&Prompt{Text: c.text, Path: "p.md"}, data)
		var fault *PromptError
		if !errors.As(err, &fault) || err.Error() != c.want || got != "" {
			t.Errorf("%s:\n got %v\nwant %s", name, err, c.want)
		}
	}
	if _, err := Render(&Prompt{Text: strings.Repeat("x", MaxPrompt+1), Literal: true}, promptData()); err == nil {
		t.Error("a literal prompt of more than 1 MiB was taken")
	}
}

func TestPromptCheck(t *testing.T) {
	for text, want := range map[string]string{
		"{{.Mision.Dir}}":                                `prompt: line 1: undefined: .Mision; did you mean Mission?`,
		"x\n{{if .Feedback}}\n{{.Feedbak}}{{end}}":       `prompt: line 3: undefined: .Feedbak; did you mean Feedback?`,
		"{{.Feedback.Text}}":                             `prompt: line 1: undefined: .Feedback.Text`,
		"{{$.Step.Name}}":                                `prompt: line 1: undefined: .Step.Name`,
		"{{with .Step}}{{.Titel}}{{end}}":                `prompt: line 1: undefined: .Titel; did you mean Title?`,
		"{{with .Step}}{{$.Runn}}{{end}}":                `prompt: line 1: undefined: .Runn; did you mean Run?`,
		"{{(.Mission).Slgu}}":                            `prompt: line 1: undefined: .Slgu; did you mean Slug?`,
		"{{.Package}}":                                   `prompt: line 1: uses .Package, but the step "s" has no work packages`,
		"{{.Package.Title}}":                             `prompt: line 1: uses .Package.Title, but the step "s" has no work packages`,
		"{{if .Package}}a{{else}}{{.Package.ID}}{{end}}": `prompt: line 1: uses .Package.ID, but the step "s" has no work packages`,
		"{{if .Package}}{{.Package.ID}}{{end}}":          ``,
		"{{with .Package}}{{.ID}}{{end}}":                ``,
		"{{with .Package}}{{.Idd}}{{end}}":               `prompt: line 1: undefined: .Idd; did you mean ID?`,
		"{{and .Package .Package.ID}}":                   ``,
		"{{range .Inputs}}{{.X}}{{end}}":                 `prompt: line 1: undefined: .X`,
		"{{range 1000000000}}x{{end}}":                   `prompt: line 1: range over the number 1000000000: only .Inputs has elements`,
		`{{template "x"}}`:                               `prompt: line 1: there is no template "x"`,
		`{{define "x"}}{{template "x"}}{{end}}a`:         `prompt: line 1: the template "x" calls itself`,
		`{{define "x"}}{{template "y"}}{{end}}{{define "y"}}{{if true}}{{template "x"}}{{end}}{{end}}a`: "prompt: line 1: the template \"x\" calls itself\nprompt: line 1: the template \"y\" calls itself",
		"{{.Foo}} {{.Bar}}":                  "prompt: line 1: undefined: .Foo\nprompt: line 1: undefined: .Bar",
		`{{index .Inputs "x"}}`:              ``,
		`{{len .Inputs | printf "%d"}}`:      ``,
		`{{/* a comment */ -}} text`:         ``,
		`{{$x := .Mission}}{{$x.Whatever}}a`: ``, // left to Render
	} {
		got := ""
		if err := (&Prompt{Text: text}).Check(Step{ID: "s"}); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
}

func FuzzRender(f *testing.F) {
	f.Add("{{.Run}} {{range .Inputs}}{{.}}{{end}}")
	f.Add(`{{define "x"}}{{template "x"}}{{end}}`)
	f.Add(`{{with .Package}}{{.ID}}{{else}}{{(index .Inputs "a").B}}{{end}}`)
	f.Fuzz(func(t *testing.T, text string) {
		p := &Prompt{Text: text}
		if p.Check(Step{ID: "s"}) != nil {
			return
		}
		if out, err := Render(p, promptData()); err == nil && (len(out) == 0 || len(out) > MaxPrompt) {
			t.Errorf("%d bytes", len(out))
		}
	})
}
