package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spec-kitty/step-runner/host/mission"
)

// explainUnknown turns the unknown keys into problems. It runs when the whole
// file was read: only then are the keys of the tables further up known, and
// with them whether a key has slid into a table below the one it belongs to.
func (r *reading) explainUnknown() {
	for _, u := range r.unknown {
		if owner := u.in.owner(u.key); owner != nil {
			r.add(u.in.at(u.key), "", "%s", slid(u, owner))
			continue
		}
		if r.heading && u.in.up == nil && slices.Contains([]string{"key", "name", "version"}, u.key) {
			r.add(u.key, "", "%s is a key of [mission]", u.key)
			continue
		}
		near := mission.Nearest(u.key, u.in.known)
		r.add(u.in.at(u.key), near, "unknown key %s%s%s", quoted(u.key), u.in.place(), u.in.instead(near))
	}
	r.unknown = nil
}

// owner is the nearest table further up that has a key of that name. What stands for
// a whole table of names at the top of the file, such as commands, has not slid.
func (t *table) owner(key string) *table {
	for up := t.up; up != nil; up = up.up {
		if !up.isNames() && slices.Contains(up.known, key) && (up.up != nil || !isNames(key)) {
			return up
		}
	}
	return nil
}

// instead lists the keys of a table for a key that is near none of them.
func (t *table) instead(near string) string {
	if near != "" || len(t.known) == 0 {
		return ""
	}
	return "; the keys there are " + strings.Join(slices.Sorted(slices.Values(t.known)), ", ")
}

// isNames tells tables such as [plugins], whose keys are names, from others.
func (t *table) isNames() bool {
	return t.up != nil && t.up.up == nil && isNames(t.key)
}

func isNames(key string) bool {
	return key == "plugins" || key == "commands" || key == "missions" || key == "loops"
}

func slid(u unknownKey, owner *table) string {
	where := owner.header()
	if where == "" {
		where = "the top of the file"
	}
	return fmt.Sprintf("%s is a key of %s, but stands inside %s: move it up, above %s",
		quoted(u.key), where, u.in.header(), u.in.header())
}

func (t *table) place() string {
	if header := t.header(); header != "" {
		return " in " + header
	}
	return ""
}

// header is the table as it stands in the file: [[steps.guards]].
func (t *table) header() string {
	if t.up == nil {
		return ""
	}
	name := quoted(t.key)
	for up := t.up; up.up != nil; up = up.up {
		name = quoted(up.key) + "." + name
	}
	if t.index >= 0 {
		return "[[" + name + "]]"
	}
	return "[" + name + "]"
}
