package lanes

import (
	"strings"

	"github.com/spec-kitty/step-runner/host/mission"
)

// nearest is how many names a "did you mean" lists.
const nearest = 3

// near lists the slugs that look like handle: those that have it in them, and the
// one that a slip of the hand turns into it.
func near(handle string, all []Mission) []string {
	var names, known []string
	slugOf := map[string]string{}
	for _, m := range all {
		if strings.Contains(mission.Fold(m.Slug), mission.Fold(handle)) && len(names) < nearest {
			names = append(names, m.Slug)
		}
		for _, name := range []string{m.Slug, bare(m.Slug)} {
			slugOf[name] = m.Slug
			known = append(known, name)
		}
	}
	slip := slugOf[mission.Nearest(handle, known)]
	if slip != "" && len(names) == 0 {
		names = append(names, slip)
	}
	return names
}
