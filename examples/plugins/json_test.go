package plugins

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// json.h takes exactly the documents that encoding/json takes (and that are
// UTF-8 and at most 64 deep), and reads the same values out of them.
func TestJSON(t *testing.T) {
	echo := filepath.Join(t.TempDir(), "echo")
	compile(t, echo, filepath.Join("c", "testdata", "echo.c"))
	docs := append(cornerDocs(), randomDocs(4000)...)
	var stdin bytes.Buffer
	for _, doc := range docs {
		fmt.Fprintf(&stdin, "%d\n%s", len(doc), doc)
	}
	cmd := exec.Command(echo)
	cmd.Env = []string{"ASAN_OPTIONS=detect_leaks=0"}
	cmd.Stdin = &stdin
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("echo: %v", err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(docs) {
		t.Fatalf("%d answers for %d documents", len(lines), len(docs))
	}
	for i, doc := range docs {
		compareJSON(t, doc, lines[i])
	}
}

func compareJSON(t *testing.T, doc, got string) {
	t.Helper()
	good := json.Valid([]byte(doc)) && utf8.ValidString(doc) && depth(doc) <= 64
	if refused := strings.HasPrefix(got, "!"); refused == good {
		t.Errorf("%.200q: valid is %v, json.h says %.200s", doc, good, got)
	}
	if !good || strings.HasPrefix(got, "!") {
		return
	}
	if want, have := values(t, doc), values(t, got); !reflect.DeepEqual(want, have) {
		t.Errorf("%.200q: encoding/json reads %.200v, json.h %.200v", doc, want, have)
	}
}

func values(t *testing.T, doc string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(doc))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%.200q: %v", doc, err)
	}
	return v
}

// depth of a valid document.
func depth(doc string) int {
	d := json.NewDecoder(strings.NewReader(doc))
	d.UseNumber()
	depth, most := 0, 0
	for {
		token, err := d.Token()
		if err != nil {
			return most
		}
		switch token {
		case json.Delim('['), json.Delim('{'):
			depth++
		case json.Delim(']'), json.Delim('}'):
			depth--
		}
		most = max(most, depth)
	}
}

func cornerDocs() []string {
	return []string{
		``, ` `, `null`, ` true `, `false`, `nul`, `truex`, `nullnull`, `"`, `"a`, `"\`, `"\u12`, `"\u123g"`, `"\x"`, "\"\x00\"", "\"\n\"", "\"\x7f\"",
		`"\u0000\b\f\n\r\t\/\\\""`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ud83dx"`, `"\ud83d\u0041"`, `"\ude00\ud83d"`, `"\uD83D\uDE00"`, `"\ud83d\ud83d\ude00"`,
		"\"\xff\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "\"\xf0\x9f\x98\"", "\"\xf0\x9f\x98\x80 é\"", "\xef\xbb\xbf1",
		`0`, `-0`, `-`, `+1`, `01`, `1.`, `.5`, `1.5`, `1e`, `1e5`, `1E+5`, `1e-05`, `-1.0e+10`, `0x1`, `1 2`, `1,`, `NaN`,
		`[]`, `[ ]`, `[1,]`, `[,1]`, `[1 2]`, `[1,2]`, `[[],{},""]`, `[`, `]`, `[1}`, `[1`, `["]"]`,
		`{}`, `{ }`, `{"a":1}`, `{"a":1,}`, `{"a"}`, `{"a":}`, `{a:1}`, `{"a":1 "b":2}`, `{"a":{"b":["}",{"c":null}]}}`, `{"\u0061":1}`, `{"":0}`, `{1:2}`, `{`,
		`[{"a":1},2,"x",3.5,true,null]`, "\t\r\n[\n1\t,\r2 ]\n", "\f1", "/**/1",
		strings.Repeat("[", 64) + strings.Repeat("]", 64), strings.Repeat("[", 65) + strings.Repeat("]", 65), strings.Repeat("[", 100_000),
		strings.Repeat(`{"a":`, 64) + "1" + strings.Repeat("}", 64), strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65),
		`"` + strings.Repeat(`\u20ac`, 200_000) + `"`, `[` + strings.Repeat(`1,`, 300_000) + `1]`,
	}
}

// randomDocs are documents put together at random, half of them with a byte
// changed, from a fixed seed.
func randomDocs(n int) []string {
	r := rand.New(rand.NewPCG(2, 7))
	docs := make([]string, n)
	for i := range docs {
		doc := []byte(randomValue(r, 5))
		if i%2 == 1 && len(doc) > 0 {
			doc[r.IntN(len(doc))] = `{}[]",:\u0e1- x`[r.IntN(15)]
		}
		docs[i] = string(doc)
	}
	return docs
}

func randomValue(r *rand.Rand, depth int) string {
	scalars := []string{`null`, `true`, `-12`, `0.5e3`, `"a\"b"`, `"\ud83d\ude00é"`, `""`, `"\\"`, `"]},"`, ` 7 `}
	if depth == 0 || r.IntN(3) == 0 {
		return scalars[r.IntN(len(scalars))]
	}
	items := make([]string, r.IntN(4))
	object := r.IntN(2) == 0
	for i := range items {
		items[i] = randomValue(r, depth-1)
		if object {
			items[i] = fmt.Sprintf("\"k\\u00%02x\" :%s", 0x41+i, items[i])
		}
	}
	if object {
		return "{" + strings.Join(items, " ,") + "}"
	}
	return "[" + strings.Join(items, ", ") + "]"
}
