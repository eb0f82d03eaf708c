package runner

import (
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/cursor"
)

// P3, P5, Case53, Case54, Case55: however a guard ends, the run is untouched and
// says by name what happened; the next call of the same run works.
func TestHostilePluginLeavesTheRunAlone(t *testing.T) {
	ends := map[string]string{
		"loop": "time_limit", "fib": "time_limit", "grow": "memory_limit", "recurse": "stack_overflow", "flood": "output_limit",
		"logflood": "log_limit", "exit3": "exited", "trap": "trapped", "two": "bad_answer", "tables": "memory_limit", "stray": "bad_answer",
	}
	for guest, end := range ends {
		t.Run(guest, func(t *testing.T) {
			if testing.Short() && guest != "trap" {
				t.Skip("processes, which the race detector makes slow")
			}
			if raceDetector && (guest == "tables" || guest == "recurse") {
				t.Skip("the race detector takes the memory that tables and stacks grow into")
			}
			t.Parallel()
			root := makeProject(t, `
[missions.t]
steps = [{ id = "A", guards = [{ plugin = "`+guest+`" }] }, { id = "B" }]`, nil, guest)
			file := root + "/spec-kitty.toml"
			limits := `memory = "16MiB"`
			if end == "time_limit" {
				limits = `timeout = "250ms"`
			}
			write(t, file, strings.Replace(read(t, file), `timeout = "5s"`, limits, 1))
			p := open(t, root)
			a, err := p.Start(t.Context(), StartRequest{Slug: "m", Caller: Caller{Agent: "a"}})
			if err != nil {
				t.Fatal(err)
			}
			wantStep(t, a, "A")
			before := journal(t, root)
			for range 2 { // the second call in one command ends as the first
				a := must(t, p, report("a", cursor.Success))
				if a.Kind != KindBlocked || a.Recorded || !strings.Contains(value(a.Reason), end) {
					t.Fatalf("kind %s, recorded %v, %q; want %s", a.Kind, a.Recorded, value(a.Reason), end)
				}
			}
			if journal(t, root) != before {
				t.Error("the journal changed")
			}
			if a := must(t, p, report("a", cursor.Failed)); !a.Recorded {
				t.Errorf("the next call: kind %s, %q", a.Kind, value(a.Reason))
			}
			wantSound(t, p)
		})
	}
}
