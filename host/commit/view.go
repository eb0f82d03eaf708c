package commit

import (
	"encoding/json"
	"fmt"

	"github.com/spec-kitty/step-runner/kernel/journal"
)

// These are part of the view's format, see docs/journal-format.md.
const (
	viewFormat = 1
	viewName   = "state.json"
	viewLimit  = 64 << 20 // bytes; a larger file is not ours
)

// view is the content of state.json. It names the record that it was folded
// up to, so it can be held against the journal.
type view struct {
	Format   int             `json:"format"`
	Run      string          `json:"run"`
	Subject  string          `json:"subject"`
	Revision uint64          `json:"revision"`
	Length   int64           `json:"length"`
	Offset   int64           `json:"offset"`
	Digest   string          `json:"digest"`
	Evolve   int             `json:"evolve"`
	Stamp    string          `json:"stamp,omitempty"` // of the journal, see Options.Watch
	State    json.RawMessage `json:"state"`
}

func (v view) position() journal.Position {
	return journal.Position{Run: v.Run, Revision: v.Revision, Digest: v.Digest, Offset: v.Offset, End: v.Length}
}

// encode writes the view with its sum at the end.
func (v view) encode() ([]byte, error) {
	out, err := seal(v)
	if err != nil {
		return nil, fmt.Errorf("encode the state: %w", err)
	}
	return out, nil
}

// decodeView reads a view of the given run; the error says why it is not
// intact.
func decodeView(data []byte, run string) (view, error) {
	var v view
	if err := sealed(data); err != nil {
		return v, err
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return v, fmt.Errorf("it cannot be read: %w", err)
	}
	switch {
	case v.Format != viewFormat:
		return v, fmt.Errorf("it has format %d, this version knows %d", v.Format, viewFormat)
	case v.Run != run:
		return v, fmt.Errorf("it is of the run %q", v.Run)
	case v.Revision == 0 || v.Offset < 0 || v.Length <= v.Offset:
		return v, fmt.Errorf("it names no record")
	}
	return v, nil
}
