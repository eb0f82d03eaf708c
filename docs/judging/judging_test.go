package judging

import (
	"os"
	"strings"
	"testing"
)

func TestJudge(t *testing.T) {
	j, err := Start("../..", os.Environ(), "../schema/version.schema.json", "../schema/error.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}()
	if !j.Has("version") || !j.Has("error") || j.Has("answer") {
		t.Error("it has other schemas than it was given")
	}
	if err := j.Fits("version", []byte(`{"schema": 1, "version": "1", "revision": "", "go": "go1"}`)); err != nil {
		t.Error(err)
	}
	for doc, want := range map[string]string{
		`{"version": 1`:      "unexpected end",
		`{}`:                 "missing propert",
		"{\n\"version\": 7}": "/version",
	} {
		if err := j.Fits("version", []byte(doc)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", doc, err, want)
		}
	}
	if err := j.Fits("answer", []byte(`{}`)); err == nil || !strings.Contains(err.Error(), `no schema "answer"`) {
		t.Errorf("of a schema that it does not have it says %v", err)
	}
}
