package lanes

import (
	"path/filepath"
	"time"

	"github.com/spec-kitty/step-runner/host/mission"
)

// Change is a line of the lane log that moved a package, or that says who works
// on it.
type Change struct {
	At      time.Time
	EventID string       // "" for a note without one
	From    mission.Lane // as the line has it; "" where it has none
	To      mission.Lane // "" for a note
	Actor   string       // as the log names it, tools too
	Agent   string       // "" where no agent is known
	Reason  string
	Force   bool

	// What only our own lines say.
	Author   string
	Run      string // whose commit it was
	Revision uint64
}

// History reads the changes of one package out of the log as it is now, in the
// order in which they count: by time, then by id, each id once. Its errors are
// those of Read.
func (r *LogReader) History(pkg string) ([]Change, error) {
	data, err := r.bytes()
	if err != nil {
		return nil, err
	}
	return ParseHistory(filepath.Join(r.dir, LogFile), data, pkg)
}

// ParseHistory is History on a log's bytes; path is for messages.
func ParseHistory(path string, data []byte, pkg string) ([]Change, error) {
	s, err := scanLog(path, data)
	if err != nil {
		return nil, err
	}
	inOrder(s.events)
	var all []Change
	for _, e := range s.events {
		if e.pkg == pkg {
			all = append(all, changeOf(e))
		}
	}
	return all, nil
}

func changeOf(e event) Change {
	c := Change{At: e.at, EventID: e.id, To: e.to, Agent: e.agent, Reason: field(e.text, "reason"), Force: isTrue(e.text, "force")}
	if e.own != nil {
		c.Agent, c.Author, c.Run, c.Revision = e.own.holder.Agent, e.own.author.Agent, e.own.run, e.own.rev
	}
	c.From, _ = mission.ParseLane(field(e.text, "from_lane"))
	c.Actor = actorOf(valueOf(e.text, "actor"))
	return c
}
