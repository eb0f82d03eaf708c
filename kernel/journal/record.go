package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

// Format is the version that this package writes. It only rises.
const Format = 1

// MaxLine bounds a line, its end included, in bytes. A longer one is never
// written, and no reader takes more memory than this for a line.
const MaxLine = 16 << 20

// NoDigest is the digest before the first record.
const NoDigest = "0000000000000000000000000000000000000000000000000000000000000000"

// These are part of the format and never change.
const (
	digestLen = 2 * sha256.Size
	sealOpen  = `,"digest":"`
	sealClose = `"}`
	sealLen   = len(sealOpen) + digestLen + len(sealClose)
)

// Record is one line.
type Record struct {
	Format   int
	Run      string
	Subject  string // first record only
	Revision uint64
	At       time.Time
	Actor    string
	Kind     string
	Events   []json.RawMessage
	Prev     string
	Digest   string

	// Newer says why this version does not understand the line, whose digest
	// is right. The fields above are then as far as they could be read.
	Newer string

	Line   []byte // without its newline
	Offset int64  // where the line begins
	End    int64  // where the next one begins
}

// Encode gives the record's line with its newline, and its digest. It uses
// Run, Subject, Revision, At, Actor, Kind, Events and Prev.
func Encode(r Record) (line []byte, digest string, err error) {
	if y := r.At.UTC().Year(); y < 0 || y > 9999 {
		return nil, "", fmt.Errorf("the clock says year %d, which no record can tell: set it right", y)
	}
	var b bytes.Buffer
	text := func(name, s string) {
		b.WriteString(name)
		quoted, _ := json.Marshal(s) // a string always has one
		b.Write(quoted)
	}
	b.WriteString(recordOpen + strconv.Itoa(Format))
	text(`,"run":`, r.Run)
	if r.Subject != "" {
		text(`,"subject":`, r.Subject)
	}
	b.WriteString(`,"revision":` + strconv.FormatUint(r.Revision, 10))
	text(`,"at":`, timeText(r.At))
	text(`,"actor":`, r.Actor)
	text(`,"kind":`, r.Kind)
	b.WriteString(`,"events":[`)
	for i, e := range r.Events {
		if i > 0 {
			b.WriteByte(',')
		}
		if !utf8.Valid(e) {
			return nil, "", fmt.Errorf("event %d of %s is not UTF-8", i+1, r.Kind)
		}
		// Compacting also proves that the event is one value without newlines.
		if err := json.Compact(&b, e); err != nil {
			return nil, "", fmt.Errorf("event %d of %s is not JSON: %w", i+1, r.Kind, err)
		}
	}
	b.WriteString(`]`)
	text(`,"prev":`, r.Prev)
	digest = seal(b.Bytes())
	b.WriteString(sealOpen + digest + sealClose + "\n")
	if b.Len() > MaxLine {
		return nil, "", fmt.Errorf("a record of %d bytes: the most is %d", b.Len(), MaxLine)
	}
	return b.Bytes(), digest, nil
}

// recordOpen is how every line begins, of any format.
const recordOpen = `{"format":`

// Good tells whether a line, without its newline, has the right digest. It
// needs no other line and no knowledge of the format's version.
func Good(line []byte) bool {
	if !hasSeal(line) || len(line) >= MaxLine {
		return false
	}
	body := len(line) - sealLen
	sum := sha256.Sum256(line[:body])
	var want [digestLen]byte
	hex.Encode(want[:], sum[:])
	return string(want[:]) == string(line[body+len(sealOpen):len(line)-len(sealClose)])
}

// hasSeal tells whether a line ends as one with a digest does, right or wrong.
func hasSeal(line []byte) bool {
	if len(line) < sealLen {
		return false
	}
	tail := line[len(line)-sealLen:]
	return string(tail[:len(sealOpen)]) == sealOpen && string(tail[sealLen-len(sealClose):]) == sealClose
}

func seal(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// errBad says that a line's digest is wrong.
var errBad = errors.New("the digest is wrong")

// Parse reads a line without its newline. It fails only where the line is not
// good; one that is good and not understood comes back with Newer set. The
// record refers to line.
func Parse(line []byte) (Record, error) {
	if !Good(line) {
		return Record{}, errBad
	}
	body := len(line) - sealLen
	rec := Record{Line: line, Digest: string(line[body+len(sealOpen) : len(line)-len(sealClose)])}
	if rec.scan(line[:body]) {
		return rec, nil
	}
	return foreignLayout(rec), nil
}

// scan reads the one layout that Encode writes. Reading it by hand is several
// times as quick as a general decoder, and every deviation is noticed: bytes that are
// not UTF-8, which other readers would replace, too.
func (r *Record) scan(body []byte) bool {
	if !utf8.Valid(body) {
		return false
	}
	s := scanner{rest: body, ok: true}
	s.literal(recordOpen)
	r.Format = int(s.number())
	s.literal(`,"run":`)
	r.Run = s.text()
	if s.has(`,"subject":`) {
		s.literal(`,"subject":`)
		r.Subject = s.text()
	}
	s.literal(`,"revision":`)
	r.Revision = s.number()
	s.literal(`,"at":`)
	atText := s.text()
	at, err := time.Parse(time.RFC3339Nano, atText)
	s.literal(`,"actor":`)
	r.Actor = s.text()
	s.literal(`,"kind":`)
	r.Kind = s.text()
	s.literal(`,"events":`)
	const prevLen = len(`,"prev":""`) + digestLen
	cut := len(s.rest) - prevLen
	if !s.ok || err != nil || cut < 0 || r.Format != Format || r.Revision == 0 {
		return false
	}
	r.At = at.UTC()
	if timeText(r.At) != atText {
		return false // 9999-12-31T23:00:00-02:00, say, is in a year that has no text
	}
	if json.Unmarshal(s.rest[:cut], &r.Events) != nil || r.Events == nil {
		return false
	}
	s.rest = s.rest[cut:]
	s.literal(`,"prev":`)
	r.Prev = s.text()
	return s.ok && len(s.rest) == 0 && isDigest(r.Prev)
}

func timeText(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func isDigest(s string) bool {
	for i := range len(s) {
		if c := s[i]; !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f') {
			return false
		}
	}
	return len(s) == digestLen
}

// foreignLayout reads what it can of a line that this version did not write.
func foreignLayout(r Record) Record {
	var known struct {
		Format   int               `json:"format"`
		Run      string            `json:"run"`
		Subject  string            `json:"subject"`
		Revision uint64            `json:"revision"`
		At       time.Time         `json:"at"`
		Actor    string            `json:"actor"`
		Kind     string            `json:"kind"`
		Events   []json.RawMessage `json:"events"`
		Prev     string            `json:"prev"`
	}
	out := Record{Line: r.Line, Digest: r.Digest, Newer: "it has fields that this version does not know"}
	if !utf8.Valid(r.Line) {
		out.Newer = "this version cannot read it: it is not UTF-8"
		return out
	}
	if err := json.Unmarshal(r.Line, &known); err != nil {
		out.Newer = "this version cannot read it: " + err.Error()
		return out
	}
	if known.Format != Format {
		out.Newer = fmt.Sprintf("it has format %d, this version knows format %d", known.Format, Format)
	}
	out.Format, out.Run, out.Subject, out.Revision = known.Format, known.Run, known.Subject, known.Revision
	out.At, out.Actor, out.Kind, out.Events, out.Prev = known.At, known.Actor, known.Kind, known.Events, known.Prev
	return out
}
