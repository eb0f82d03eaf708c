package lanes

import (
	"cmp"
	"strconv"
)

// OwnKey is the key under which our own lines say what the existing tool's
// fields have no place for: in policy_metadata of a move, in delta of a note.
const OwnKey = "step_runner"

// Person is an agent and, where several processes share its name, a worker; the
// zero Person is nobody.
type Person struct{ Agent, Worker string }

// own is what one of our own lines says of people: exactly, where the existing
// tool's lines leave it to be guessed from who moved what.
type own struct {
	run    string // whose commit it was, and its revision
	rev    uint64
	holder Person // from then on
	author Person // nobody: as before
	ends   string // token of the issue whose report the move is
}

// ownOf reads our part of a move's policy_metadata, or of a note's delta; nil
// where the line is the existing tool's.
func ownOf(object []byte) *own {
	part := valueOf(object, OwnKey)
	if len(part) == 0 || part[0] != '{' {
		return nil
	}
	rev, _ := strconv.ParseUint(string(valueOf(part, "revision")), 10, 64)
	return &own{
		run: field(part, "run"), rev: rev,
		holder: Person{field(part, "holder"), field(part, "holder_worker")},
		author: Person{field(part, "author"), field(part, "author_worker")},
		ends:   field(part, "ends"),
	}
}

// apply takes over what our own line says.
func (o *own) apply(p *Position) {
	p.Holder, p.Worker = o.holder.Agent, o.holder.Worker
	if o.author != (Person{}) {
		p.Author, p.AuthorWorker = o.author.Agent, o.author.Worker
	}
	p.Ended = cmp.Or(o.ends, p.Ended)
	if o.rev > p.Revisions[o.run] {
		if p.Revisions == nil {
			p.Revisions = map[string]uint64{}
		}
		p.Revisions[o.run] = o.rev
	}
}
