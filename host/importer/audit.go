package importer

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spec-kitty/step-runner/host/mission"
)

// audit reads one of audit_steps. Of a blocking one only the question is shown
// here: everything else about it is left out, and said.
func (in *importing) audit(t table) {
	id := in.ids[t.text("id")]
	title := cmp.Or(oneLine(cmp.Or(t.text("title"), t.text("name"))), id)
	text := strings.TrimSpace(plainLines(t.text("description")))
	config := t.below("audit")
	enforcement := config.text("enforcement")
	step := mission.Step{ID: id, Title: title, Action: id, DependsOn: in.dependencies(t), Audit: &mission.Audit{Enforcement: mission.Enforcement(enforcement)}}
	free := append(config.rest("enforcement", "trigger_mode", "label", "metadata"), t.rest("id", "title", "description", "audit", "significance", "depends_on", "raci", "raci_override_reason")...)
	src := source{table: t, metadata: map[string]any{}}
	if step.Audit.Enforcement == mission.Blocking {
		step.Audit.Question = strings.TrimSpace(fmt.Sprintf("Audit checkpoint: %s. Approve to continue?\n\n%s", title, text))
		for _, p := range free {
			in.note(LeftOut, p.at, id, "%s has no effect on a blocking audit: its question is all that is shown", p.key)
		}
	} else {
		step.Description = text
		for _, p := range free {
			if p.value.kind != none {
				src.metadata[p.key] = in.free(p.value, id)
				in.unused(p, id)
			}
		}
	}
	in.add(step, src)
}
