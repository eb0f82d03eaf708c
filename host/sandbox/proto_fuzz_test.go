package sandbox

import (
	"bytes"
	"testing"
)

// FuzzReadFrame: a child whose guest broke out may say anything to its parent: a
// frame is refused, or read whole, and never makes room for more than a frame may
// have.
func FuzzReadFrame(f *testing.F) {
	var whole bytes.Buffer
	if err := writeFrame(&whole, frameDone, report{Code: TimeLimit, Output: 3}); err != nil {
		f.Fatal(err)
	}
	f.Add(whole.Bytes())
	f.Add([]byte("D\xff\xff\xff\xff{}"))
	f.Add([]byte("D\x02\x00\x00\x00[]"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		in := bytes.NewReader(raw)
		var r report
		kind, err := readFrame(in, &r, frameReady, frameDone)
		if err == nil && kind != frameReady && kind != frameDone {
			t.Fatalf("a frame %q was taken", kind)
		}
	})
}
