package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/cursor"
)

// consulted is a step whose plugins read the mission's folder.
const consulted = `
[missions.t]
steps = [{ id = "A", executor = { plugin = "success" }, guards = [{ plugin = "spec-lint", with = { sections = [], min_stories = 0 } }] }, { id = "B" }]`

// consultedProject is a project whose run has recorded two calls.
func consultedProject(t *testing.T) string {
	t.Helper()
	root := makeProject(t, consulted, map[string]string{"spec.md": spec}, "success", "spec-lint")
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	wantStep(t, must(t, p, report("a", cursor.Success)), "B")
	return root
}

func wantCalls(t *testing.T, got Replay, words ...string) {
	t.Helper()
	if len(got.Calls) != len(words) {
		t.Fatalf("calls %+v", got.Calls)
	}
	for i, c := range got.Calls {
		if text := string(c.End) + " " + c.Why; !strings.HasPrefix(text, words[i]) {
			t.Errorf("call %d: %s, want %q", i, text, words[i])
		}
	}
}

// P6: the same request and files give the same answer, byte for byte, in a
// process of another day.
func TestReplayPlugins_P6(t *testing.T) {
	root := consultedProject(t)
	got := replayed(t, open(t, root), true)
	wantVerdict(t, got, VerdictSame)
	wantCalls(t, got, "same", "same")
	if got := replayed(t, open(t, root), false); len(got.Calls) != 0 {
		t.Errorf("calls without --plugins: %+v", got.Calls)
	}
}

// What cannot be consulted again is named with the reason, and is no difference.
func TestReplayNamesWhatCannotBeRepeated(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, root string)
		want  [2]string
	}{
		"a file has changed": {func(t *testing.T, root string) {
			write(t, filepath.Join(root, "kitty-specs", "m", "spec.md"), spec+"\nMore.\n")
		}, [2]string{"same", "not_repeated changed since: "}},
		"the requests are gone": {func(t *testing.T, root string) {
			if err := os.RemoveAll(filepath.Join(onlyRun(t, root), "calls")); err != nil {
				t.Fatal(err)
			}
		}, [2]string{"not_repeated its request was not kept", "not_repeated its request was not kept"}},
		"the requests were edited": {func(t *testing.T, root string) {
			files, _ := filepath.Glob(filepath.Join(onlyRun(t, root), "calls", "*"))
			for _, file := range files {
				write(t, file, "{}")
			}
		}, [2]string{"not_repeated its request is not what was kept", "not_repeated its request is not what was kept"}},
		"the plugins' bytes are gone": {func(t *testing.T, root string) {
			if err := os.RemoveAll(filepath.Join(onlyRun(t, root), "plugins")); err != nil {
				t.Fatal(err)
			}
		}, [2]string{"not_repeated what the run froze of the plugin is not there", "not_repeated what the run froze"}},
	} {
		t.Run(name, func(t *testing.T) {
			root := consultedProject(t)
			c.spoil(t, root)
			got := replayed(t, open(t, root), true)
			wantVerdict(t, got, VerdictSame)
			wantCalls(t, got, c.want[:]...)
		})
	}
}

// A recorded answer that the plugin does not give is a difference.
func TestReplayFindsAnotherAnswer_P6(t *testing.T) {
	root := consultedProject(t)
	forge(t, root, func(body string) string {
		const mark = `"answer":"`
		if at := strings.LastIndex(body, mark); at >= 0 {
			at += len(mark)
			return body[:at] + strings.Repeat("0", 64) + body[at+64:]
		}
		return body
	})
	got := replayed(t, open(t, root), true)
	wantVerdict(t, got, VerdictDiffers, "plugin spec-lint guard: it answered 000000000000 then")
	wantCalls(t, got, "same", "differs")
}
