package abi

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// vector is an answer and what becomes of it. Answer is the text of stdout, as
// it need not be JSON.
type vector struct {
	Name, Answer, Host, Schema, Says string
}

func schema(t *testing.T, kind string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile("v1/" + kind + ".schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func vectors[V any](t *testing.T, kind string) (list []V) {
	t.Helper()
	b, err := os.ReadFile("v1/vectors/" + kind + ".json")
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&list); err != nil {
		t.Fatal(err)
	}
	return list
}

// The golden answers: what the host says of each, what the published schema
// says, and that an accepted one comes back the same from its Go type.
func TestVectors(t *testing.T) {
	for kind, decode := range map[string]func([]byte) (any, error){
		"guard-answer":    func(b []byte) (any, error) { return DecodeGuard(b) },
		"execute-answer":  func(b []byte) (any, error) { return DecodeExecute(b) },
		"describe-answer": func(b []byte) (any, error) { return DecodeDescribe(b) },
	} {
		s := schema(t, kind)
		for _, v := range vectors[vector](t, kind) {
			t.Run(kind+"/"+v.Name, func(t *testing.T) {
				a, err := decode([]byte(v.Answer))
				if got := accepts(err); got != v.Host {
					t.Errorf("the host %s it (%v), want %s", got, err, v.Host)
				}
				if err != nil && (v.Says == "" || !strings.Contains(err.Error(), v.Says)) {
					t.Errorf("%q does not say %q", err, v.Says)
				}
				if got := accepts(validate(s, []byte(v.Answer))); got != v.Schema {
					t.Errorf("the schema %s it, want %s", got, v.Schema)
				}
				if err == nil {
					comesBack(t, s, a, v.Answer)
				}
			})
		}
	}
}

func accepts(err error) string {
	if err != nil {
		return "refuses"
	}
	return "accepts"
}

func validate(s *jsonschema.Schema, text []byte) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return s.Validate(doc)
}

func comesBack(t *testing.T, s *jsonschema.Schema, a any, text string) {
	t.Helper()
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate(s, b); err != nil {
		t.Errorf("written from its Go type the schema refuses it: %v", err)
	}
	same(t, []byte(text), b)
}

func same(t *testing.T, want, got []byte) {
	t.Helper()
	var w, g any
	if err := json.Unmarshal(want, &w); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(got, &g); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRequests(t *testing.T) {
	s := schema(t, "request")
	type request struct {
		Name    string
		Request json.RawMessage
	}
	for _, v := range vectors[request](t, "request") {
		if err := validate(s, v.Request); err != nil {
			t.Errorf("%s: %v", v.Name, err)
		}
		var r Request
		d := json.NewDecoder(bytes.NewReader(v.Request))
		d.DisallowUnknownFields()
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		b, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		same(t, v.Request, b)
	}
}

// A request of nothing has no null in it.
func TestEmptyRequestHasNoNull(t *testing.T) {
	r := Request{Verb: Guard, Mission: Mission{Dir: "/project/x"}, Step: Step{Attempt: 1}, Now: "2026-03-01T12:00:00Z",
		Packages: []Package{{ID: "WP01"}}}
	b, err := r.Encode()
	if err != nil || bytes.Contains(b, []byte("null")) {
		t.Errorf("%s, %v", b, err)
	}
	if err := validate(schema(t, "request"), b); err != nil {
		t.Error(err)
	}
}

func TestInvalidUTF8IsNoAnswer(t *testing.T) {
	_, err := DecodeGuard([]byte("{\"verdict\":\"error\",\"message\":\"\xff\"}"))
	if err == nil || !strings.Contains(err.Error(), "UTF-8") {
		t.Error(err)
	}
}

func TestAnswerIsBounded(t *testing.T) {
	huge := append([]byte(`{"verdict":"allow"}`), bytes.Repeat([]byte(" "), MaxAnswer)...)
	if _, err := DecodeGuard(huge); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Error(err)
	}
	// However small they are: to read them takes the host longer than the plugin.
	for name, crowd := range map[string]string{
		"reasons": `{"verdict":"refuse","reasons":[` + strings.Repeat(`{},`, 1<<20) + `{}]}`,
		"numbers": `{"verdict":"refuse","reasons":[` + strings.Repeat(`0,`, 1<<20) + `0]}`,
	} {
		if _, err := DecodeGuard([]byte(crowd)); err == nil || !strings.Contains(err.Error(), "more than 20000 values") {
			t.Errorf("%s: %v", name, err)
		}
	}
	var many ExecuteAnswer
	many.Outcome = Success
	for _, name := range []string{"a", "b"} {
		many.Artifacts = append(many.Artifacts, Artifact{name, strings.Repeat("x", 600<<10)})
	}
	b, err := json.Marshal(many)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := DecodeExecute(b); err == nil || !strings.Contains(err.Error(), "together") {
		t.Error(err)
	}
}

// No bytes make decoding panic, and what is accepted is accepted by the schema.
func FuzzDecode(f *testing.F) {
	decoders := map[string]func([]byte) error{
		"guard-answer":    func(b []byte) error { _, err := DecodeGuard(b); return err },
		"execute-answer":  func(b []byte) error { _, err := DecodeExecute(b); return err },
		"describe-answer": func(b []byte) error { _, err := DecodeDescribe(b); return err },
	}
	schemas := map[string]*jsonschema.Schema{}
	for kind := range decoders {
		b, err := os.ReadFile("v1/vectors/" + kind + ".json")
		if err != nil {
			f.Fatal(err)
		}
		var list []vector
		if err := json.Unmarshal(b, &list); err != nil {
			f.Fatal(err)
		}
		for _, v := range list {
			f.Add([]byte(v.Answer))
		}
		if schemas[kind], err = jsonschema.NewCompiler().Compile("v1/" + kind + ".schema.json"); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for kind, decode := range decoders {
			if decode(b) != nil {
				continue
			}
			if err := validate(schemas[kind], b); err != nil {
				t.Errorf("the host accepts the %s %q, the schema does not: %v", kind, b, err)
			}
		}
	})
}
