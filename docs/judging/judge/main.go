// Command judge judges documents by JSON schemas, for tests in whose own processes
// the schema library would be: it takes milliseconds of each start, and tests start
// themselves by the hundred.
//
//	judge NAME=FILE...
//
// Each line of stdin is {"schema": NAME, "doc": DOCUMENT}, and is answered by a line:
// a JSON string, empty if the document fits, else what is wrong with it.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func main() {
	schemas, err := compile(os.Args[1:])
	if err == nil {
		err = judge(schemas, os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "judge:", err)
		os.Exit(1)
	}
}

// compile compiles the schemas, which may refer to each other by their ids.
func compile(named []string) (map[string]*jsonschema.Schema, error) {
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	ids := map[string]string{}
	for _, arg := range named {
		name, file, ok := strings.Cut(arg, "=")
		if !ok {
			return nil, fmt.Errorf("%q is no NAME=FILE", arg)
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		whole, _ := doc.(map[string]any)
		id, ok := whole["$id"].(string)
		if !ok {
			return nil, fmt.Errorf("%s has no $id: give it one", file)
		}
		if err := compiler.AddResource(id, doc); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		ids[name] = id
	}
	compiled := map[string]*jsonschema.Schema{}
	for name, id := range ids {
		schema, err := compiler.Compile(id)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		compiled[name] = schema
	}
	return compiled, nil
}

// judge answers each line until there are no more.
func judge(schemas map[string]*jsonschema.Schema, in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		fault := ""
		if err := fits(schemas, line); err != nil {
			fault = err.Error()
		}
		if err := json.NewEncoder(out).Encode(fault); err != nil {
			return err
		}
	}
}

func fits(schemas map[string]*jsonschema.Schema, line []byte) error {
	var asked struct {
		Schema string
		Doc    json.RawMessage
	}
	if err := json.Unmarshal(line, &asked); err != nil {
		return err
	}
	schema, ok := schemas[asked.Schema]
	if !ok {
		return fmt.Errorf("there is no schema %q", asked.Schema)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(asked.Doc))
	if err != nil {
		return err
	}
	return schema.Validate(doc)
}
