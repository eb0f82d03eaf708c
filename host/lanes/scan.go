package lanes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spec-kitty/step-runner/host/mission"
)

// ParseLog reads a lane log's bytes; path is for messages. Lines that move no
// package are skipped, whatever they hold, as long as they are JSON objects.
func ParseLog(path string, data []byte) (Log, error) {
	s, err := scanLog(path, data)
	if err != nil {
		return Log{}, err
	}
	log := fold(s.events)
	log.Digest, log.Warnings = digestOf(data), s.warnings
	return log, nil
}

func scanLog(path string, data []byte) (scan, error) {
	s := scan{path: path, seen: map[string]event{}}
	whole := bytes.TrimRight(data, "\x00")
	rest := trimMark(whole)
	line := 1
	for ; len(rest) > 0; line++ {
		text, after, ended := bytes.Cut(rest, []byte("\n"))
		rest = after
		ended = ended && (len(rest) > 0 || !isTorn(text))
		if err := s.line(line, bytes.TrimSpace(text), ended); err != nil {
			return s, err
		}
	}
	if len(whole) < len(data) && len(s.warnings) == 0 {
		s.torn(line)
	}
	return s, nil
}

// event is a line that says something about one package: a move, or a note of
// who works on it.
type event struct {
	id      string
	at      time.Time
	pkg     string
	to      mission.Lane // "" for a note
	agent   string       // "" where no agent is known
	role    string       // of a note's agent
	release bool         // a note that the work was given up
	own     *own         // nil: the existing tool's line
	text    []byte       // the whole line
}

type scan struct {
	path     string
	events   []event
	seen     map[string]event // by event id
	warnings []Warning
}

// line is what we need of one line. The values are JSON; nil where the line has
// none, or null.
type line struct {
	id, at, pkg          string
	to                   []byte
	actor, delta, policy []byte
	text                 []byte // all of it
}

func parseLine(text []byte) line {
	var l line
	for key, value := range fields(text) {
		if string(value) == "null" {
			value = nil
		}
		switch key {
		case "event_id":
			l.id, _ = textOf(value)
		case "at":
			l.at, _ = textOf(value)
		case "wp_id":
			l.pkg, _ = textOf(value)
		case "to_lane":
			l.to = value
		case "actor":
			l.actor = value
		case "delta":
			l.delta = value
		case "policy_metadata":
			l.policy = value
		}
	}
	return l
}

func (s *scan) line(number int, text []byte, ended bool) error {
	if len(text) == 0 {
		return nil
	}
	if text[0] != '{' || !json.Valid(text) {
		if ended {
			return s.damaged(number, text)
		}
		s.torn(number)
		return nil
	}
	l := parseLine(text)
	l.text = text
	if l.pkg == "" {
		return nil
	}
	if l.to == nil {
		s.note(l)
		return nil
	}
	return s.move(number, l)
}

func (s *scan) torn(number int) {
	s.warn(WarnTornLine, fmt.Sprintf("%s:%d: the last line is not finished and was skipped", s.path, number))
}

func (s *scan) damaged(number int, text []byte) error {
	why := "this line is not a JSON object"
	if bytes.HasPrefix(text, []byte("<<<<<<<")) || bytes.HasPrefix(text, []byte("=======")) || bytes.HasPrefix(text, []byte(">>>>>>>")) {
		why = "an unfinished merge of git left its marks here"
	}
	return &FileError{Path: s.path, Line: number, Why: why,
		Fix: "mend the log with the tool that writes it, or by hand; nothing was changed"}
}

func (s *scan) fail(number int, why string, err error) error {
	return &FileError{Path: s.path, Line: number, Why: why, Err: err}
}

func (s *scan) warn(code, message string) {
	s.warnings = append(s.warnings, Warning{Code: code, Message: message})
}

func (s *scan) move(number int, l line) error {
	name, _ := textOf(l.to)
	lane, ok := mission.ParseLane(name)
	if !ok {
		return s.fail(number, fmt.Sprintf("to_lane %s is no lane", l.to), nil)
	}
	at, err := time.Parse(time.RFC3339Nano, l.at)
	if err != nil {
		return s.fail(number, fmt.Sprintf("at %q is no time", l.at), err)
	}
	if l.id == "" {
		return s.fail(number, "a move without event_id", nil)
	}
	s.add(number, event{id: l.id, at: at, pkg: l.pkg, to: lane, agent: agentOf(l.delta, l.policy, l.actor), own: ownOf(l.policy), text: l.text})
	return nil
}

// note keeps what tells who works on a package; one that does not, or has no
// time, says nothing about lanes.
func (s *scan) note(l line) {
	agent, release := agentName(field(l.delta, "agent")), isTrue(l.delta, "release_runtime_claim")
	at, err := time.Parse(time.RFC3339Nano, l.at)
	own := ownOf(l.delta)
	if err != nil || agent == "" && !release && own == nil {
		return
	}
	s.add(0, event{id: l.id, at: at, pkg: l.pkg, agent: agent, role: field(l.delta, "role"), release: release, own: own, text: l.text})
}

// add keeps each event id once: a log merged from two branches has lines twice.
func (s *scan) add(number int, e event) {
	if e.id != "" {
		first, twice := s.seen[e.id]
		if twice {
			if first.to != e.to || first.pkg != e.pkg || !first.at.Equal(e.at) {
				s.warn(WarnSameEventID, fmt.Sprintf("%s:%d: event_id %s was used before by another event; the first one counts", s.path, number, e.id))
			}
			if first.own != nil && e.own != nil {
				first.own.rev = max(first.own.rev, e.own.rev) // made again after a crash, in another copy
			}
			return
		}
		s.seen[e.id] = e
	}
	s.events = append(s.events, e)
}
