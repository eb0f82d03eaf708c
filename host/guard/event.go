package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spec-kitty/step-runner/host/mission"
)

// EventLog is the file in a mission's folder that events are looked for in: one
// JSON object a line, with its type under "type".
const EventLog = "mission-events.jsonl"

// Event wants a number of events of one type in the mission's event log. Lines
// that are no JSON objects are no events, such as the one that is being written.
func Event(folder Folder, g mission.EventGuard) Result {
	least := max(1, g.Min)
	r := Result{Guard: "event " + g.Type, Expected: fmt.Sprintf("at least %d events %s in %s", least, g.Type, EventLog)}
	if least == 1 {
		r.Expected = fmt.Sprintf("an event %s in %s", g.Type, EventLog)
	}
	root, err := folder.open()
	if err != nil {
		return r.failed(err.Error(), "make the mission's folder readable")
	}
	if root != nil {
		defer root.Close()
	}
	found, digest, err := countEvents(folder, root, g.Type)
	more := fmt.Sprintf("do what it is about, and write a line {\"type\": %q} for each into %s in the mission's folder", g.Type, EventLog)
	r.Facts = []Fact{{Name: eventPrefix + g.Type, Digest: digest}}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.Verdict, r.Examined, r.Fix = Refuse, "no such file", more
	case err != nil:
		return r.failed(err.Error(), "make "+EventLog+" readable")
	case found < least:
		r.Verdict, r.Examined, r.Fix = Refuse, fmt.Sprintf("%d such events", found), more
	default:
		r.Verdict, r.Examined = Allow, fmt.Sprintf("%d such events", found)
	}
	return r
}

// countEvents counts the lines of a type. The digest is of those lines alone:
// events of other types may come while a report is under way.
func countEvents(folder Folder, root *os.Root, kind string) (n int, digest string, err error) {
	data, err := folder.read(root, EventLog)
	if err != nil {
		return 0, digestOf(nil, err), err
	}
	var seen []byte
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		if isEvent(line, kind) {
			n++
			seen = append(append(seen, line...), '\n')
		}
	}
	return n, hash(seen), nil
}

func isEvent(line []byte, kind string) bool {
	if !bytes.HasPrefix(line, []byte("{")) {
		return false
	}
	var event struct {
		Type *json.RawMessage `json:"type"`
	}
	var name string
	return json.Unmarshal(line, &event) == nil && event.Type != nil && json.Unmarshal(*event.Type, &name) == nil && name == kind
}
