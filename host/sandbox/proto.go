package sandbox

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"
)

// The parent writes one job to the child's stdin: a frame with its JSON, then
// the module (unless the child reads a file), the request and the bundle, each as
// long as the job says. The child writes frames to its stdout: ready (the module is
// loaded) and done (a report, then the guest's stdout). The guest's log is the
// child's stderr, so that it outlives a child that is killed.

// mode says how a child gets to machine code.
type mode string

const (
	cached    mode = "cached"    // from the cache; nothing may be written
	interpret mode = "interpret" // not at all
	compile   mode = "compile"   // anew, for this call
	fill      mode = "fill"      // anew, into the cache, and no call
)

// job is what a child is to do.
type job struct {
	Mode       mode              `json:"mode"`
	Background bool              `json:"background,omitempty"` // a filler: low priority, ends by itself
	Name       string            `json:"name"`
	Path       string            `json:"path,omitempty"`   // the module's file
	Remove     bool              `json:"remove,omitempty"` // it is a copy for this child: remove it
	Wasm       int64             `json:"wasm,omitempty"`   // or its length on stdin
	SHA256     string            `json:"sha256"`
	Cache      string            `json:"cache,omitempty"` // cache folder of this module
	Hint       string            `json:"hint,omitempty"`  // to remove once the cache is filled
	Limits     Limits            `json:"limits"`
	Spent      time.Duration     `json:"spent,omitempty"` // of the timeout, by an earlier child
	Verb       string            `json:"verb,omitempty"`
	Args       []string          `json:"args,omitempty"`
	Env        map[string]string `json:"env,omitempty"`
	Request    int64             `json:"request,omitempty"` // its length on stdin
	Bundle     int64             `json:"bundle,omitempty"`  // and of the bundle
	Mounts     []Mount           `json:"mounts,omitempty"`
	Reads      []string          `json:"reads,omitempty"`
	Hide       []string          `json:"hide,omitempty"`
	Now        time.Time         `json:"now,omitzero"`
	Seed       []byte            `json:"seed,omitempty"`
}

// report is how the child saw the end. Code "" is an answer.
type report struct {
	Code       Code   `json:"code,omitempty"`
	Detail     string `json:"detail,omitempty"`
	Exit       uint32 `json:"exit,omitempty"`
	Facts      []Fact `json:"facts,omitempty"`
	Incomplete bool   `json:"incomplete,omitempty"`
	Cache      string `json:"cache,omitempty"`  // the cache, not the module, is at fault: miss or bad
	Output     int64  `json:"output,omitempty"` // length of what follows
}

const (
	frameJob   = 'J'
	frameReady = 'R'
	frameDone  = 'D'

	maxFrame = 8 << 20 // a report with all its facts stays far below
)

func writeFrame(w io.Writer, kind byte, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	head := make([]byte, 5, 5+len(body))
	head[0] = kind
	binary.LittleEndian.PutUint32(head[1:], uint32(len(body)))
	_, err = w.Write(append(head, body...))
	return err
}

// readFrame reads a frame's kind and decodes its body, if it is of a kind that
// was asked for.
func readFrame(r io.Reader, v any, kinds ...byte) (byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, err
	}
	n := binary.LittleEndian.Uint32(head[1:])
	if n > maxFrame || !slices.Contains(kinds, head[0]) {
		return 0, fmt.Errorf("unexpected frame %q of %d bytes", head[0], n)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return 0, err
	}
	return head[0], json.Unmarshal(body, v)
}
