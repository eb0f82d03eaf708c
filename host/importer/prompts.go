package importer

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spec-kitty/step-runner/host/mission"
)

// longPrompt is the length, in bytes, from which on a prompt is written to a
// file of its own.
const longPrompt = 400

// promptOf finds a step's prompt: the text, the file that it names, or the file
// of its own name.
func (in *importing) promptOf(t table, step *mission.Step, src *source) {
	text, _ := t.take("prompt")
	name, named := t.take("prompt_template")
	switch {
	case text.kind != none && text.kind != scalar && text.kind != "":
		t.wrong(text, "prompt", "text")
	case named && name.kind != scalar:
		t.wrong(name, "prompt_template", "text")
	case named:
		if strings.TrimSpace(text.text) != "" {
			in.note(LeftOut, text.place, step.ID, "the step has a prompt_template: its prompt %s has no place here", short(text.text))
		}
		in.promptFile(t, name, step, src)
	case strings.TrimSpace(text.text) != "":
		src.prompt = text.text
		if len(src.prompt) > longPrompt {
			src.file = step.ID + ".md"
		}
	default:
		in.ownPrompt(t, step, src)
	}
}

func (in *importing) promptFile(t table, name value, step *mission.Step, src *source) {
	file := path.Clean(strings.TrimPrefix(name.text, "./"))
	if !fs.ValidPath(file) || file == "." || strings.Contains(file, `\`) || strings.ContainsFunc(file, unicode.IsControl) {
		in.problem(name.place, t.at("prompt_template"), "", "%q is no path below the folder of the prompts, written with /", name.text)
		return
	}
	data, ok := in.findPrompt(file)
	src.file = file
	switch {
	case !ok:
		in.stub(name.place, "is missing", file, step, src)
	case !utf8.Valid(data):
		in.problem(name.place, t.at("prompt_template"), "", "the prompt %q is not UTF-8", name.text)
	case len(data) > MaxSource:
		in.problem(name.place, t.at("prompt_template"), "", "the prompt %q is larger than %d bytes", name.text, MaxSource)
	case strings.TrimSpace(string(data)) == "":
		in.stub(name.place, "is empty", file, step, src)
	default:
		src.prompt = plainPrompt(data)
		in.placeholders(name.place, file, step.ID, src.prompt)
	}
}

// ownPrompt looks for the file of the step's own name, or of its action's. No
// prompt at all is no fault: the runner makes one of title and description.
func (in *importing) ownPrompt(t table, step *mission.Step, src *source) {
	for _, id := range []string{t.text("id"), step.Action} {
		data, ok := in.findPrompt(id + ".md")
		if !ok || !utf8.Valid(data) || strings.TrimSpace(string(data)) == "" || len(data) > MaxSource {
			continue
		}
		src.prompt, src.file = plainPrompt(data), id+".md"
		in.placeholders(t.place, src.file, step.ID, src.prompt)
		return
	}
	hint := in.commands[t.text("id")]
	if hint == "" {
		hint = in.commands[step.Action]
	}
	if step.Description == "" {
		step.Description = strings.TrimSpace(plainLines(hint))
	}
}

// stub writes the prompt that is missing from what is known about the step.
func (in *importing) stub(at place, how, file string, step *mission.Step, src *source) {
	hint := in.commands[step.Action]
	if hint == step.Description {
		hint = ""
	}
	var out strings.Builder
	for _, part := range []string{"# " + step.Title, step.Description, strings.TrimSpace(plainLines(hint))} {
		if part != "" {
			out.WriteString(part + "\n\n")
		}
	}
	src.prompt = strings.TrimSpace(out.String()) + "\n"
	in.note(Stub, at, step.ID, "the prompt %q %s: one was written from the title and the description", file, how)
}

func plainPrompt(data []byte) string {
	return strings.ReplaceAll(string(bytes.TrimPrefix(data, []byte("\ufeff"))), "\r\n", "\n")
}

// placeholders notes what today's program fills in and nothing fills in here.
func (in *importing) placeholders(at place, file, step, text string) {
	for _, word := range []string{"$ARGUMENTS", "{ARGS}", "{SCRIPT}", "__AGENT__"} {
		if i := strings.Index(text, word); i >= 0 {
			in.note(Changed, at, step, "%s, line %d, has the placeholder %s, which nothing fills in here", file, 1+strings.Count(text[:i], "\n"), word)
		}
	}
}

func (in *importing) hasPrompt(name string) bool {
	_, ok := in.findPrompt(name)
	return ok
}

func (in *importing) findPrompt(name string) ([]byte, bool) {
	for _, folder := range in.src.Prompts {
		for _, sub := range []string{"", "prompts", "templates", "command-templates", in.promptDir} {
			at := path.Join(sub, name)
			if !fs.ValidPath(at) {
				continue
			}
			if info, err := fs.Stat(folder, at); err != nil || !info.Mode().IsRegular() {
				continue
			}
			if data, err := readFile(folder, at); err == nil {
				return data, true
			}
		}
	}
	return nil, false
}

// readFile reads a little more than is allowed, so that what is too long is
// seen.
func readFile(folder fs.FS, name string) ([]byte, error) {
	f, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxSource+1))
}

// prompts gives every step its prompt. They are no templates of ours and are
// taken as they are; but at a step with packages the holder must see which one
// it is, so there they become templates with the package at the end.
func (in *importing) prompts() {
	for pos := range in.def.Steps {
		step, src := &in.def.Steps[pos], &in.steps[pos]
		if src.prompt == "" {
			continue
		}
		step.Prompt = &mission.Prompt{Text: src.prompt, Literal: true}
		if step.Packages != nil {
			step.Prompt = &mission.Prompt{Text: withPackage(src.prompt)}
			if src.file == "" {
				src.file = step.ID + ".md"
			}
		}
		if src.file != "" {
			step.Prompt.Path = in.promptPath(src.file, step)
		}
	}
}

// promptPath keeps a prompt in a file. Two that differ need two names, also
// where the file system does not tell letters' case.
func (in *importing) promptPath(file string, step *mission.Step) string {
	ext := path.Ext(file)
	for _, name := range []string{file, strings.TrimSuffix(file, ext) + "-" + step.ID + ext, "step-" + step.ID + ".md"} {
		name = "prompts/" + name
		i := slices.IndexFunc(in.files, func(f File) bool { return mission.Fold(f.Name) == mission.Fold(name) })
		if i < 0 {
			in.files = append(in.files, File{Name: name, Data: []byte(step.Prompt.Text)})
			return name
		}
		if string(in.files[i].Data) == step.Prompt.Text {
			return in.files[i].Name
		}
	}
	return "" // it stays in the definition
}

// withPackage is a prompt as a template that shows the package at its end.
func withPackage(text string) string {
	return strings.TrimRight(strings.ReplaceAll(text, "{{", `{{"{{"}}`), "\n") + `

---

## {{.Package.ID}} {{.Package.Title}}

{{.Package.Body}}
{{with .Feedback}}
## What came back

{{.}}
{{end}}
## When it is done

{{.Report}}
`
}
