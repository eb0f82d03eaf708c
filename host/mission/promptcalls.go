package mission

import (
	"maps"
	"slices"
	"text/template"
	"text/template/parse"
)

// calls reports templates that are called and not defined, or that call
// themselves by any way round.
func (w *promptWalk) calls(t *template.Template) {
	calls := map[string][]*parse.TemplateNode{}
	for _, part := range t.Templates() {
		if part.Tree != nil && part.Tree.Root != nil {
			calls[part.Name()] = called(part.Tree.Root)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		for _, call := range calls[name] {
			if _, ok := calls[call.Name]; !ok {
				w.add(call, "", "there is no template %q", call.Name)
			} else if reaches(calls, call.Name, name) {
				w.add(call, "", "the template %q calls itself", name)
			}
		}
	}
}

// reaches tells whether a template comes to another, or is it.
func reaches(calls map[string][]*parse.TemplateNode, from, to string) bool {
	seen := map[string]bool{}
	for todo := []string{from}; len(todo) > 0; todo = todo[1:] {
		if todo[0] == to {
			return true
		}
		if seen[todo[0]] {
			continue
		}
		seen[todo[0]] = true
		for _, call := range calls[todo[0]] {
			todo = append(todo, call.Name)
		}
	}
	return false
}

// called are the template calls below a node.
func called(n parse.Node) []*parse.TemplateNode {
	var found []*parse.TemplateNode
	switch n := n.(type) {
	case *parse.ListNode:
		if n != nil {
			for _, each := range n.Nodes {
				found = append(found, called(each)...)
			}
		}
	case *parse.IfNode:
		found = append(called(n.List), called(n.ElseList)...)
	case *parse.WithNode:
		found = append(called(n.List), called(n.ElseList)...)
	case *parse.RangeNode:
		found = append(called(n.List), called(n.ElseList)...)
	case *parse.TemplateNode:
		found = append(found, n)
	}
	return found
}
