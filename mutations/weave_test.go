package mutations

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
)

// variable names the mutation that a woven program has; without it the program does
// as it was written.
const variable = "SPEC_KITTY_MUTATION"

// chosen is the variable of a woven package that holds it.
const chosen = "mutationChosen"

// linked is the variable that the linker may set, before it.
const linked = "mutationLinked"

// source is the text of one file and its declarations.
type source struct {
	name string
	text string
	ast  *ast.File
	fset *token.FileSet
}

func parse(name, text string) (source, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
	return source{name, text, file, fset}, err
}

func (s source) at(p token.Pos) int { return s.fset.Position(p).Offset }

func (s source) of(n ast.Node) string { return s.text[s.at(n.Pos()):s.at(n.End())] }

// functions are the functions and methods by receiver and name.
func (s source) functions() map[string]*ast.FuncDecl {
	all := map[string]*ast.FuncDecl{}
	for _, d := range s.ast.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			key := f.Name.Name
			if f.Recv != nil {
				key = s.of(f.Recv.List[0].Type) + "." + key
			}
			all[key] = f
		}
	}
	return all
}

// others are the texts of all other declarations.
func (s source) others() []string {
	var all []string
	for _, d := range s.ast.Decls {
		if _, ok := d.(*ast.FuncDecl); !ok {
			all = append(all, s.of(d))
		}
	}
	return all
}

// weave puts the mutations of one file beside what they replace: each function that
// one changes is there twice, and the one that was written hands over to the other
// where that mutation is chosen. So one program has them all, is compiled once and
// judges each: a mutation may change functions' bodies and add declarations.
func weave(name, text string, mutated map[string]string) (string, error) {
	was, err := parse(name, text)
	if err != nil {
		return "", err
	}
	var added strings.Builder
	entries := map[int]string{} // by the offset of a body's begin
	for _, id := range slices.Sorted(maps.Keys(mutated)) {
		now, err := parse(name, mutated[id])
		if err != nil {
			return "", fmt.Errorf("mutation %s: %w", id, err)
		}
		if err := weaveOne(was, now, id, &added, entries); err != nil {
			return "", fmt.Errorf("mutation %s of %s: %w", id, name, err)
		}
	}
	var out strings.Builder
	last := 0
	for _, offset := range slices.Sorted(maps.Keys(entries)) {
		out.WriteString(text[last:offset])
		out.WriteString(entries[offset])
		last = offset
	}
	return out.String() + text[last:] + added.String(), nil
}

func weaveOne(was, now source, id string, added *strings.Builder, entries map[int]string) error {
	before, changed := was.functions(), false
	for key, f := range now.functions() {
		old, ok := before[key]
		switch {
		case !ok:
			fmt.Fprintf(added, "\n%s\n", now.of(f))
		case now.of(f) == was.of(old):
		case now.of(f.Type) != was.of(old.Type):
			return fmt.Errorf("%s has other parameters or results: change bodies only", key)
		default:
			call := was.handOver(old, f.Name.Name+"Mutated"+id, entries)
			entries[was.at(old.Body.Lbrace)+1] += fmt.Sprintf(" if %s == %q { %s };", chosen, id, call)
			body, begin := now.of(f), now.at(f.Name.End())-now.at(f.Pos())
			fmt.Fprintf(added, "\n%sMutated%s%s\n", body[:begin], id, body[begin:])
			changed = true
		}
	}
	rest := was.others()
	for _, text := range now.others() {
		if i := slices.Index(rest, text); i >= 0 {
			rest = slices.Delete(rest, i, i+1)
			continue
		}
		fmt.Fprintf(added, "\n%s\n", text)
	}
	switch {
	case len(rest) > 0:
		return fmt.Errorf("%q was changed: change bodies only", rest[0])
	case !changed:
		return fmt.Errorf("no function was changed")
	}
	return nil
}

// handOver is the statement that calls another function with all that came to this
// one. What has no name here is given one, in the entries.
func (s source) handOver(f *ast.FuncDecl, name string, entries map[int]string) string {
	if f.Recv != nil {
		name = s.names(f.Recv, entries)[0] + "." + name
	}
	if f.Type.TypeParams != nil {
		name += "[" + strings.Join(s.names(f.Type.TypeParams, entries), ", ") + "]"
	}
	call := name + "(" + strings.Join(s.names(f.Type.Params, entries), ", ") + ")"
	if f.Type.Results == nil {
		return call + "; return"
	}
	return "return " + call
}

func (s source) names(list *ast.FieldList, entries map[int]string) []string {
	var all []string
	for _, field := range list.List {
		dots := ""
		if _, ok := field.Type.(*ast.Ellipsis); ok {
			dots = "..."
		}
		if len(field.Names) == 0 {
			name := fmt.Sprintf("unnamed%d", len(all))
			entries[s.at(field.Type.Pos())] = name + " "
			all = append(all, name+dots)
		}
		for _, n := range field.Names {
			name := n.Name
			if name == "_" {
				name = fmt.Sprintf("blank%d", len(all))
				entries[s.at(n.Pos())] = name
				name += "_"
			}
			all = append(all, name+dots)
		}
	}
	return all
}

// choice is the file of a woven package that reads which mutation it has: what was
// linked in, as its children may have no environment, or what the environment says.
func choice(pkg string) string {
	return fmt.Sprintf("package %s\n\nimport (\n\t\"cmp\"\n\t\"os\"\n)\n\nvar %s string\n\nvar %s = cmp.Or(%s, os.Getenv(%q))\n",
		path.Base(pkg), linked, chosen, linked, variable)
}
