package trust_test

import (
	"testing"

	"github.com/spec-kitty/step-runner/host/trust"
)

// FuzzDecode: bytes are no set, or one that its encoding gives again: whoever
// consents to it consents to all that it says.
func FuzzDecode(f *testing.F) {
	f.Add(trust.Set{}.Encode())
	f.Add([]byte(`{"format":1,"commands":{"a":{"run":["x"]}}}`))
	f.Add([]byte(`{"format":1} {"format":1}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		set, err := trust.Decode(raw)
		if err != nil {
			return
		}
		again, err := trust.Decode(set.Encode())
		if err != nil || again.Digest() != set.Digest() {
			t.Fatalf("%s comes back as %s, %v", raw, again.Encode(), err)
		}
	})
}
