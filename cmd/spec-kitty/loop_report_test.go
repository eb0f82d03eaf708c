package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/host/tick"
)

// A tick that is refused says all the same that a notice could not be sent.
func TestRefusalKeepsWarnings(t *testing.T) {
	var out bytes.Buffer
	a := &app{process: process{out: &out}}
	report := tick.Report{Warnings: []tick.Warning{{Code: "notice_not_sent", Message: "notify: exit 1"}}}
	if err := a.reported("deps", report, &loop.Refusal{Code: loop.OrphanAlive, Message: "group 7 lives"}); err != nil {
		t.Fatal(err)
	}
	if said := out.String(); a.code != exitRefused || !strings.Contains(said, "orphan_alive") || !strings.Contains(said, "notice_not_sent: notify: exit 1") {
		t.Errorf("%d: %s", a.code, said)
	}
}
