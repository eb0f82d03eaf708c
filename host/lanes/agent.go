package lanes

import "strings"

// agentOf is who made a move: delta.agent, else policy_metadata.agent, else the
// actor, which is text or an object with an id or the name of a tool. The values
// are JSON, or nil where the line has none.
func agentOf(delta, policy, actor []byte) string {
	for _, name := range []string{field(delta, "agent"), field(policy, "agent"), actorOf(actor)} {
		if name = agentName(name); name != "" {
			return name
		}
	}
	return ""
}

func actorOf(actor []byte) string {
	if text, ok := textOf(actor); ok {
		return text
	}
	if id := field(actor, "id"); id != "" {
		return id
	}
	return field(actor, "tool")
}

// agentName is a name as an agent's, or "" where it is the existing tool's own.
func agentName(name string) string {
	name = strings.TrimSpace(name)
	switch name {
	case "user", "migration", "finalize-tasks", "merge", "implement-command", "unknown", "system", "runtime":
		return ""
	}
	if strings.HasPrefix(name, "migration:") || strings.HasPrefix(name, "spec-kitty") {
		return ""
	}
	return name
}
