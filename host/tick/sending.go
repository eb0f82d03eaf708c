package tick

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/spec-kitty/step-runner/host/command"
	"github.com/spec-kitty/step-runner/host/loop"
)

// sendingName begins the names of the files that tell which notify program runs, one
// for each process that sends. A notice is sent when its run is over, so there is no
// claim for its group to be on record in; and two ticks may send at once. The file is
// made before the program is let go and removed after its end. It is not synced: after
// a power failure nothing runs.
const sendingName = ".sending-"

// sending is a notify program at work.
type sending struct {
	UID    string            `json:"uid"` // of the loop
	Key    string            `json:"key"` // of the notice
	Host   string            `json:"host"`
	Runner command.Process   `json:"runner"`
	Group  loop.ProcessGroup `json:"group"`
}

func (o *opened) sendingPath(pid int) string {
	return filepath.Join(o.l.dir(), o.name, sendingName+itoa(uint64(pid)))
}

// sending notes a notify program that was started and waits.
func (o *opened) sending(p command.Process, key string) error {
	raw, err := json.Marshal(sending{UID: o.state.UID, Key: key, Host: o.l.host.Name, Runner: o.l.host.Self, Group: loop.ProcessGroup{ID: p.PID, Start: p.Start}})
	if err != nil {
		return err
	}
	return os.WriteFile(o.sendingPath(o.l.host.Self.PID), raw, 0o644)
}

func (o *opened) sent() {
	_ = os.Remove(o.sendingPath(o.l.host.Self.PID)) // the next tick finds that nothing of it runs
}

// endSendings kills the notify programs of ticks that died. What cannot be told from
// other processes is left alone; it keeps nobody out, since notices may come twice.
func (o *opened) endSendings() {
	dir := filepath.Join(o.l.dir(), o.name)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), sendingName) && o.endSending(filepath.Join(dir, e.Name())) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// endSending tells whether nothing of one runs any more.
func (o *opened) endSending(path string) bool {
	var s sending
	raw, err := readFile(filepath.Split(path))
	if err != nil {
		return false
	}
	if json.Unmarshal(raw, &s) != nil || s.UID != o.state.UID {
		return true // cut short: its program was never let go; or of another loop of that name
	}
	h := o.l.host
	runner := loop.Runner{Host: s.Host, Boot: s.Runner.Boot, PID: s.Runner.PID, Start: s.Runner.Start}
	switch {
	case s.Host != h.Name || h.runnerLives(runner) != loop.Gone:
		return false
	case s.Runner.Boot != h.Boot:
		return true
	}
	leader := command.Process{PID: s.Group.ID, Start: s.Group.Start, Boot: s.Runner.Boot}
	mark := noticeMark(s.UID, s.Key)
	if h.Group(leader, mark) == loop.Alive {
		command.EndGroup(s.Group.ID)
	}
	return h.Group(leader, mark) == loop.Gone
}
