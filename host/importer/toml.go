package importer

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spec-kitty/step-runner/host/mission"
)

// toml writes the definition, the steps in their order, each with its keys in
// the order in which one reads them.
func (in *importing) toml() []byte {
	w := &writer{}
	w.line("#:schema https://raw.githubusercontent.com/spec-kitty/step-runner/main/docs/schema/mission.schema.json")
	w.line("")
	w.line("[mission]")
	w.text("key", in.def.Key)
	w.text("name", in.def.Name)
	w.text("version", in.def.Version)
	for _, step := range in.def.Steps {
		w.line("")
		w.line("[[" + group(step) + "]]")
		in.notesOf(w, step.ID)
		w.step(step)
	}
	return []byte(w.out.String())
}

// notesOf writes what was left out or changed beside the step it is about.
func (in *importing) notesOf(w *writer, step string) {
	for _, n := range in.notes {
		if n.Step == step && (n.Code == LeftOut || n.Code == Changed) {
			w.line("# " + oneLine(n.Message))
		}
	}
}

// group is the list that a step stands in.
func group(step mission.Step) string {
	if step.Audit != nil {
		return "audits"
	}
	return "steps"
}

type writer struct{ out strings.Builder }

func (w *writer) line(text string) { w.out.WriteString(text + "\n") }

// text writes a key with a text, if there is any.
func (w *writer) text(key, text string) {
	if text != "" {
		w.line(key + " = " + quoted(text, true))
	}
}

func (w *writer) texts(key string, items []string) {
	if len(items) > 0 {
		w.line(key + " = " + inline(items))
	}
}

func (w *writer) step(step mission.Step) {
	w.text("id", step.ID)
	if step.Title != step.ID {
		w.text("title", step.Title)
	}
	w.text("description", step.Description)
	if step.Action != step.ID {
		w.text("action", step.Action)
	}
	w.text("profile", step.Profile)
	w.texts("depends_on", step.DependsOn)
	w.prompt(step.Prompt)
	tables(w, "inputs", step.Inputs, inputPairs)
	tables(w, "guards", step.Guards, guardPairs)
	if a := step.Audit; a != nil {
		w.text("question", a.Question)
		w.text("enforcement", string(a.Enforcement))
	}
	if len(step.Metadata) > 0 {
		w.line("[" + group(step) + ".metadata]")
		for _, key := range slices.Sorted(maps.Keys(step.Metadata)) {
			w.line(bare(key) + " = " + free(step.Metadata[key]))
		}
	}
	w.packages(step.Packages)
}

func (w *writer) prompt(p *mission.Prompt) {
	switch {
	case p == nil:
		return
	case p.Path != "":
		w.text("prompt_template", p.Path)
	default:
		w.text("prompt", p.Text)
	}
	if p.Literal {
		w.line("template = false")
	}
}

func (w *writer) packages(rule *mission.PackageRule) {
	if rule == nil {
		return
	}
	w.line("[steps.work_packages]")
	w.line("take = " + inline(rule.Take))
	w.text("claim", string(rule.Claim))
	w.text("success", string(rule.Success))
	w.text("failed", string(rule.Failed))
	w.line("until = " + inline(rule.Until))
	w.texts("also", rule.Also)
	if rule.SelfReview {
		w.line("self_review = true")
	}
}

// tables writes a list of tables, one a line.
func tables[T any](w *writer, key string, items []T, pairs func(T) []string) {
	if len(items) == 0 {
		return
	}
	w.line(key + " = [")
	for _, item := range items {
		w.line("  { " + strings.Join(pairs(item), ", ") + " },")
	}
	w.line("]")
}

// inputPairs and guardPairs are the parts of one line of a list of tables.
func inputPairs(in mission.Input) []string {
	return []string{"key = " + quoted(in.Key, false), "question = " + quoted(in.Question, false)}
}

func guardPairs(g mission.Guard) []string {
	switch {
	case g.Artifact != nil:
		return []string{"artifact = " + quoted(g.Artifact.Path, false)}
	case g.Event != nil:
		return []string{"event = " + quoted(g.Event.Type, false), "min = " + strconv.Itoa(g.Event.Min)}
	}
	return []string{"input = " + quoted(g.Input, false)}
}

func inline[T ~string](items []T) string {
	parts := make([]string, len(items))
	for i, item := range items {
		parts[i] = quoted(string(item), false)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// free writes a value of the author's own.
func free(v any) string {
	switch v := v.(type) {
	case string:
		return quoted(v, false)
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return decimal(v)
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = free(item)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		parts := []string{}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, bare(key)+" = "+free(v[key]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	panic(fmt.Sprintf("importer: %T is no free value", v))
}

// decimal is a number that TOML takes for no whole one.
func decimal(f float64) string {
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

// bare is a key, in quotes where it needs them.
func bare(key string) string {
	ok := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-'
	}
	if key == "" || strings.ContainsFunc(key, func(r rune) bool { return !ok(r) }) {
		return quoted(key, false)
	}
	return key
}

// quoted is text as TOML writes it; over several lines where it has some and
// stands at the end of a line of its own.
func quoted(text string, lines bool) string {
	lines = lines && strings.Contains(text, "\n")
	var out strings.Builder
	quotes := 0
	for i, r := range text {
		if r != '"' {
			quotes = 0
		}
		switch {
		case r == '"' && lines && quotes < 2 && i < len(text)-1:
			quotes++
			out.WriteRune(r)
		case r == '"' || r == '\\':
			quotes = 0
			out.WriteString(`\` + string(r))
		case r == '\n' && !lines:
			out.WriteString(`\n`)
		case r == '\t':
			out.WriteString(`\t`)
		case r < ' ' && r != '\n' || r == 0x7f:
			fmt.Fprintf(&out, `\u%04X`, r)
		default:
			out.WriteRune(r)
		}
	}
	if !lines {
		return `"` + out.String() + `"`
	}
	return "\"\"\"\n" + out.String() + `"""`
}
