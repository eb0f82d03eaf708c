package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// jsonCommand looks at a value of the last document: json PATH null, json PATH
// == VALUE, json PATH != VALUE, json PATH ~ REGEXP, json PATH len N. A path is
// .name.name[0]; texts are compared as they are, everything else as JSON.
func jsonCommand(ts *testscript.TestScript, neg bool, args []string) {
	value, err := lookUp(stateOf(ts).doc, args[0])
	ts.Check(err)
	ok, err := holds(value, args[1:])
	ts.Check(err)
	if ok == neg {
		ts.Fatalf("%s is %s; wanted: %s", args[0], shown(value), strings.Join(args[1:], " "))
	}
}

func holds(value any, args []string) (bool, error) {
	switch {
	case len(args) == 1 && args[0] == "null":
		return value == nil, nil
	case len(args) != 2:
		return false, fmt.Errorf("usage: json PATH null | == | != | ~ | len VALUE")
	case args[0] == "==":
		return shown(value) == args[1], nil
	case args[0] == "!=":
		return shown(value) != args[1], nil
	case args[0] == "~":
		return regexp.MatchString(args[1], shown(value))
	case args[0] == "len":
		items, _ := value.([]any)
		return strconv.Itoa(len(items)) == args[1], nil
	}
	return false, fmt.Errorf("no comparison %q", args[0])
}

func jsonenvCommand(ts *testscript.TestScript, _ bool, args []string) {
	value, err := lookUp(stateOf(ts).doc, args[1])
	ts.Check(err)
	ts.Setenv(args[0], shown(value))
}

func shown(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

func lookUp(value any, path string) (any, error) {
	for _, part := range strings.FieldsFunc(strings.ReplaceAll(path, "[", ".["), func(r rune) bool { return r == '.' }) {
		if index, ok := strings.CutPrefix(part, "["); ok {
			i, err := strconv.Atoi(strings.TrimSuffix(index, "]"))
			items, _ := value.([]any)
			if err != nil || i >= len(items) {
				return nil, fmt.Errorf("%s: no item %s in %s", path, part, shown(value))
			}
			value = items[i]
			continue
		}
		object, _ := value.(map[string]any)
		next, ok := object[part]
		if !ok {
			return nil, fmt.Errorf("%s: no %s in %s", path, part, shown(value))
		}
		value = next
	}
	return value, nil
}
