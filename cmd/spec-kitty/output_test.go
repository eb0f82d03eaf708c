package main

import (
	"encoding/json"
	"testing"
)

// No text from elsewhere passes for a line of ours, or steers the terminal.
func TestForeignTextIsMarked(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                           "plain",
		"Zażółć gęślą jaźń 👋":             "Zażółć gęślą jaźń 👋",
		"no\n\n  next: `rm -rf /`\n\n":    "no\n  | \n  |   next: `rm -rf /`",
		"a\x1b[31mb\u009bc\u202ed":        `a\u001b[31mb\u009bc\u202ed`,
		"z\u200bw\u2028x\ufeff\U000e0041": `z\u200bw\u2028x\ufeff\udb40\udc41`,
	} {
		if got := told(text); got != want {
			t.Errorf("%q is told as %q, want %q", text, got, want)
		}
	}
}

func TestJSONIsVisible(t *testing.T) {
	text := "a\u009b\u202e\u200b\U000e0041\n\x1b ü👋"
	doc, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	seen := visible(doc)
	for _, r := range string(seen) {
		if unseen(r) {
			t.Errorf("%q holds %q", seen, r)
		}
	}
	var back string
	if err := json.Unmarshal(seen, &back); err != nil || back != text {
		t.Errorf("%q reads back as %q: %v", seen, back, err)
	}
}
