package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/spec-kitty/step-runner/docs/judging"
	"github.com/spec-kitty/step-runner/host/runner"
	"github.com/spec-kitty/step-runner/host/tick"
)

const schemaFolder = "../../docs/schema"

// judge has all schemas. It is another process, as the scripts start this one, as
// spec-kitty, more than a thousand times.
var judge = sync.OnceValues(func() (*judging.Judge, error) {
	files, err := filepath.Glob(schemaFolder + "/*.schema.json")
	if err != nil {
		return nil, err
	}
	files = append(files, "../../plugins/abi/v1/request.schema.json") // what plugin request prints
	return judging.Start("../..", os.Environ(), files...)
})

// checkOutput wants stdout to be exactly one JSON document and a newline, with
// no escape bytes, accepted by the schema of its shape, and in keeping with the
// exit code.
func checkOutput(stdout []byte, code int) (any, error) {
	if !bytes.HasSuffix(stdout, []byte("}\n")) || bytes.ContainsRune(stdout, 0x1b) {
		return nil, fmt.Errorf("stdout is no document and a newline, or has escape bytes: %q", stdout)
	}
	dec := json.NewDecoder(bytes.NewReader(stdout))
	dec.UseNumber()
	var doc map[string]any
	if err := dec.Decode(&doc); err != nil {
		return nil, fmt.Errorf("stdout: %w: %q", err, stdout)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("stdout has more than one document: %q", stdout)
	}
	judge, err := judge()
	if err != nil {
		return nil, err
	}
	name := shapeOf(doc)
	if !judge.Has(name) {
		return nil, fmt.Errorf("no schema for this document: %s", stdout)
	}
	if err := judge.Fits(name, stdout); err != nil {
		return nil, fmt.Errorf("%s.schema.json: %w\n%s", name, err, stdout)
	}
	if err := helps(doc); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, stdout)
	}
	return doc, fits(doc, name, code)
}

// helps wants of an error that it says what to do, and that what it proposes is
// proposed once and is not what was given.
func helps(doc map[string]any) error {
	if _, isError := doc["error_code"]; !isError {
		return nil
	}
	next, _ := doc["next_step"].(string)
	if strings.TrimSpace(next) == "" || strings.Contains(next, "help exit-codes") {
		return fmt.Errorf("the error does not say what to do: %q", next)
	}
	seen := map[any]bool{}
	for _, candidate := range doc["candidates"].([]any) {
		if seen[candidate] {
			return fmt.Errorf("the candidate %q is there twice", candidate)
		}
		seen[candidate] = true
	}
	said, _ := doc["error"].(string)
	for _, m := range regexp.MustCompile(`"([^"]*)"[^"]*did you mean ([^ ?]+)\?`).FindAllStringSubmatch(said, -1) {
		if m[1] == m[2] {
			return fmt.Errorf("%q is proposed in its own place", m[1])
		}
	}
	return nil
}

// shapeOf is the name of the schema that a document belongs to.
func shapeOf(doc map[string]any) string {
	for _, s := range []struct{ key, name string }{
		{"error_code", "error"}, {"consented", "trust"}, {"consents", "trust-list"}, {"revoked", "trust-revoke"}, {"findings", "doctor"}, {"dropped", "plugin-gc"}, {"plugins", "plugin-list"}, {"imports", "plugin-inspect"}, {"sha256_before", "plugin-pin"}, {"exported", "run-export"}, {"unit_changes", "loop-schedule"}, {"preflight", "loop-doctor"}, {"outcome", "loop-report"}, {"checked_loops", "loop-validate"}, {"entries", "loop-log"}, {"diff", "loop-diff"}, {"imported", "run-import"}, {"sources", "mission-import"},
		{"checks", "plugin-check"}, {"facts", "plugin-run"}, {"tests", "plugin-test"}, {"lang", "plugin-new"}, {"decisions", "decision-list"}, {"askings", "decision-show"}, {"rewound_to", "run-rewind"}, {"migrated_to", "run-migrate"}, {"moments", "run-replay"}, {"abi", "request"},
		{"kind", "answer"}, {"runs", "run-list"}, {"records", "run-log"}, {"damaged", "status"},
		{"created", "init"}, {"types", "mission-list"}, {"definition", "mission-show"}, {"graph", "mission-graph"}, {"assumed", "mission-simulate"},
		{"steps", "run-show"}, {"packages", "wp-list"}, {"package", "wp-show"}, {"changes", "wp-history"}, {"valid", "validate"}, {"loops", "loop-status"}, {"help", "help"}, {"version", "version"},
	} {
		if _, ok := doc[s.key]; ok {
			if _, sound := doc["sound"]; sound && s.name != "plugin-check" {
				return "run-verify"
			}
			return s.name
		}
	}
	return ""
}

// fits holds the exit code against the document.
func fits(doc map[string]any, name string, code int) error {
	want := 0
	switch name {
	case "error":
		want = exitOf(runnerCode(doc["error_code"]))
	case "answer":
		if doc["kind"] == "blocked" {
			want = exitRefused
		}
	case "plugin-check":
		if doc["sound"] == false {
			want = exitRefused
		}
	case "plugin-test":
		if doc["passed"] == false {
			want = exitRefused
		}
	case "mission-simulate":
		if end, _ := doc["end"].(map[string]any); end["state"] != "done" && end["state"] != "canceled" {
			want = exitRefused
		}
	case "plugin-run":
		if doc["end"] != runner.EndAnswer {
			want = exitRefused
		}
	case "loop-report":
		outcome, _ := doc["outcome"].(string)
		reason, _ := doc["reason_code"].(string)
		want = exitOfReport(tick.Report{Outcome: tick.Outcome(outcome), ReasonCode: reason})
		if outcome == string(tick.Skipped) || outcome == string(tick.Canceled) && (code == exitInterrupted || code == exitTerminated) {
			want = code // as --skip-code says, or the signal
		}
	case "loop-status":
		if one, _ := doc["loops"].([]any); len(one) == 1 && code == exitDamaged {
			want = exitDamaged
		}
	case "loop-doctor":
		if doc["healthy"] == false {
			want = exitRefused
		}
	case "run-verify":
		if doc["sound"] == false {
			want = exitDamaged
		}
	case "run-replay":
		want = map[any]int{"same": exitOK, "damaged": exitDamaged, "differs": exitRefused, "not_judged": exitRefused}[doc["verdict"]]
	case "doctor":
		if doc["healthy"] == false {
			want = exitDamaged
		}
	}
	if code != want {
		return fmt.Errorf("exit code %d does not fit the document, which says %d", code, want)
	}
	return nil
}
