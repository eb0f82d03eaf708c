package mission

import (
	"errors"
	"reflect"
	"strings"
	"text/template/parse"
)

// Check finds what is sure to fail when the step's prompt is rendered: syntax,
// undefined fields, and .Package at a step without packages, unless "if" or
// "with" asks for it first. The error joins *PromptError values. Inputs are for
// Definition.Check to judge, which sees who asks for them; what depends on a
// run is left to Render.
func (p *Prompt) Check(step Step) error {
	var all []error
	for _, fault := range p.faults(step, func(string) (why, near string) { return "", "" }) {
		all = append(all, fault)
	}
	return errors.Join(all...)
}

func (p *Prompt) faults(step Step, noInput func(key string) (why, near string)) []*PromptError {
	switch {
	case strings.TrimSpace(p.Text) == "":
		return []*PromptError{p.fault(0, "is empty")}
	case len(p.Text) > MaxPrompt:
		return []*PromptError{p.fault(0, "is longer than 1 MiB")}
	case p.Literal:
		return nil
	}
	t, err := p.parse()
	if err != nil {
		var fault *PromptError
		errors.As(err, &fault)
		return []*PromptError{fault}
	}
	w := &promptWalk{prompt: p, step: step, noInput: noInput}
	root := reflect.TypeFor[PromptData]()
	for _, part := range t.Templates() {
		if part.Tree == nil || part.Tree.Root == nil {
			continue
		}
		if part.Name() == t.Name() {
			w.node(part.Tree.Root, scope{dot: root, root: root, hasPackage: step.Packages != nil})
		} else {
			w.node(part.Tree.Root, scope{hasPackage: true}) // given whatever its caller gives it
		}
	}
	w.calls(t)
	return w.found
}

// scope is what is known where a node stands. A nil type is an unknown one,
// about which nothing is said.
type scope struct {
	dot, root  reflect.Type
	hasPackage bool // the step has packages, or an if asked
}

type promptWalk struct {
	prompt  *Prompt
	step    Step
	noInput func(key string) (why, near string)
	found   []*PromptError
}

func (w *promptWalk) add(n parse.Node, near, format string, args ...any) {
	line := 1 + strings.Count(w.prompt.Text[:min(int(n.Position()), len(w.prompt.Text))], "\n")
	fault := w.prompt.fault(line, format, args...)
	fault.Near = near
	w.found = append(w.found, fault)
}

func (w *promptWalk) node(n parse.Node, in scope) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n != nil {
			for _, each := range n.Nodes {
				w.node(each, in)
			}
		}
	case *parse.ActionNode:
		if w.pipe(n.Pipe, in) == reflect.TypeFor[*PackageData]() && !in.hasPackage && len(n.Pipe.Decl) == 0 {
			w.add(n, "", "uses .Package, but the step %q has no work packages", w.step.ID)
		}
	case *parse.IfNode:
		w.branch(&n.BranchNode, in, in.dot)
	case *parse.WithNode:
		w.branch(&n.BranchNode, in, w.pipe(n.Pipe, w.asked(n.Pipe, in)))
	case *parse.RangeNode:
		w.branch(&n.BranchNode, in, w.element(n, in))
	case *parse.TemplateNode:
		if n.Pipe != nil {
			w.pipe(n.Pipe, in)
		}
	}
}

// branch walks an if, with or range; dot is what its first list sees.
func (w *promptWalk) branch(n *parse.BranchNode, in scope, dot reflect.Type) {
	asked := w.asked(n.Pipe, in)
	if n.NodeType == parse.NodeIf {
		w.pipe(n.Pipe, asked)
	}
	w.node(n.ElseList, in)
	asked.dot = dot
	w.node(n.List, asked)
}

// asked is the scope inside an if or with that mentions .Package.
func (w *promptWalk) asked(pipe *parse.PipeNode, in scope) scope {
	in.hasPackage = in.hasPackage || strings.Contains(pipe.String(), ".Package")
	return in
}

// element is the type of dot inside a range. Ranging over a number is refused:
// nothing in a prompt's data has that many of anything.
func (w *promptWalk) element(n *parse.RangeNode, in scope) reflect.Type {
	over := w.pipe(n.Pipe, in)
	for _, cmd := range n.Pipe.Cmds {
		if number, ok := cmd.Args[0].(*parse.NumberNode); ok {
			w.add(number, "", "range over the number %s: only .Inputs has elements", number.Text)
		}
	}
	if over != nil && over.Kind() == reflect.Map {
		return over.Elem()
	}
	return nil
}

// pipe walks a pipeline and returns the type of its value where that is plain.
func (w *promptWalk) pipe(pipe *parse.PipeNode, in scope) reflect.Type {
	var last reflect.Type
	for _, cmd := range pipe.Cmds {
		inner := in
		if name, ok := cmd.Args[0].(*parse.IdentifierNode); ok && (name.Ident == "and" || name.Ident == "or") {
			inner.hasPackage = true // later arguments may stand behind an earlier one
		}
		for _, arg := range cmd.Args {
			last = w.value(arg, inner)
		}
		if len(cmd.Args) > 1 {
			last = nil
		}
	}
	if len(pipe.Cmds) > 1 {
		last = nil
	}
	return last
}

func (w *promptWalk) value(n parse.Node, in scope) reflect.Type {
	switch n := n.(type) {
	case *parse.DotNode:
		return in.dot
	case *parse.FieldNode:
		return w.fields(n, in.dot, n.Ident, in)
	case *parse.VariableNode:
		if n.Ident[0] == "$" {
			return w.fields(n, in.root, n.Ident[1:], in)
		}
	case *parse.ChainNode:
		return w.fields(n, w.value(n.Node, in), n.Field, in)
	case *parse.PipeNode:
		return w.pipe(n, in)
	}
	return nil
}

// fields follows .A.B.C from a type.
func (w *promptWalk) fields(n parse.Node, at reflect.Type, idents []string, in scope) reflect.Type {
	for i, ident := range idents {
		switch {
		case at == nil:
			return nil
		case at == reflect.TypeFor[*PackageData]() && !in.hasPackage:
			w.add(n, "", "uses .Package.%s, but the step %q has no work packages", ident, w.step.ID)
			return nil
		case at.Kind() == reflect.Map:
			if why, near := w.noInput(ident); why != "" {
				w.add(n, near, "%s", why)
				return nil
			}
			at = at.Elem()
			continue
		}
		field, ok := fieldType(at, ident)
		if !ok {
			w.add(n, Nearest(ident, fieldNames(at)), "undefined: .%s", strings.Join(idents[:i+1], "."))
			return nil
		}
		at = field
	}
	return at
}

// fieldType is the type of a field; nil for a method, whose result nobody needs
// to look into.
func fieldType(t reflect.Type, name string) (reflect.Type, bool) {
	if _, ok := t.MethodByName(name); ok {
		return nil, true
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil, false
	}
	field, ok := t.FieldByName(name)
	return field.Type, ok
}

func fieldNames(t reflect.Type) []string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	var names []string
	for i := range t.NumField() {
		names = append(names, t.Field(i).Name)
	}
	return names
}
