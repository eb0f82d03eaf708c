package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// engineWord makes this test binary a process that may make no code.
const engineWord = "SANDBOX_TEST_NO_CODE"

// withoutCode forbids this process, and its children, to make code, and tells the
// engine and what a call comes to.
func withoutCode() {
	if err := unix.Prctl(unix.PR_SET_MDWE, unix.PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0); err != nil {
		fmt.Println("unsupported:", err)
		return
	}
	wasm, err := os.ReadFile("testdata/allow.wasm")
	if err != nil {
		fmt.Println(err)
		return
	}
	h := New(Options{CacheDir: os.Getenv(engineWord)})
	p := Plugin{Name: "allow", Wasm: wasm, SHA256: hexSum(wasm)}
	prepared := h.Prepare(context.Background(), p)
	a, err := h.Call(context.Background(), p, guardCall())
	h.reap(true)
	fmt.Println(EngineHere(), prepared, h.Cached(p.SHA256), a.Interpreted, err)
}

// Row H4: where no process may make code the interpreter is named, guests run in
// it, and what cannot be compiled is no error.
func TestEngineWithoutCode(t *testing.T) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), engineWord+"="+newHost(t).opts.CacheDir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if strings.HasPrefix(string(out), "unsupported") {
		t.Skipf("%s", out)
	}
	if got := strings.TrimSpace(string(out)); got != "interpreter <nil> false true <nil>" {
		t.Errorf("got %s", got)
	}
	if EngineHere() != Compiler {
		t.Error("no compiler here")
	}
}
