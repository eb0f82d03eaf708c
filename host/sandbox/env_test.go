package sandbox

import (
	"context"
	"testing"
)

// P5: a guest's environment is what the configuration grants, in one order, and
// nothing of the host's.
func TestEnvironmentIsGranted(t *testing.T) {
	t.Setenv("SPEC_KITTY_SECRET", "of the host")
	h := newHost(t)
	p := plugin(t, "env")
	for want, env := range map[string]map[string]string{
		"":                        nil,
		"A=1\x00LANG=C.UTF-8\x00": {"LANG": "C.UTF-8", "A": "1"},
	} {
		p.Env = env
		got, err := h.Call(context.Background(), p, guardCall())
		if err != nil || string(got.Stdout) != want {
			t.Errorf("%q, want %q: %v", got.Stdout, want, err)
		}
	}
}
