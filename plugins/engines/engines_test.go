package engines

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"
)

// The committed engine is the one that its recipe made last.
func TestQuickJSIsTheOneThatIsListed(t *testing.T) {
	listed, err := os.ReadFile("quickjs/SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(QuickJS()[QuickJSFile])
	if want := hex.EncodeToString(sum[:]) + "  quickjs.wasm\n"; string(listed) != want {
		t.Errorf("SHA256SUMS says %q, the file is %q: run build.sh", listed, want)
	}
	for name, data := range QuickJS() {
		if len(data) == 0 {
			t.Errorf("%s is empty", name)
		}
	}
}
