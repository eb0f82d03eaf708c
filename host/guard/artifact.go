package guard

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/spec-kitty/step-runner/host/mission"
)

// check finds what could never be evaluated: a path that leads out, a pattern or an
// expression that is not well formed, a number out of range. mission.Check keeps such
// out of definitions; a guard that is asked by other hosts may be any. All faults come
// back at once, joined.
func check(g mission.ArtifactGuard) (expressions, error) {
	var faults []error
	if why := BadPath(g.Path); why != "" {
		faults = append(faults, fmt.Errorf("artifact %q: %s", g.Path, why))
	}
	exprs, err := compile(g)
	if err != nil {
		faults = append(faults, err)
	}
	if g.MinBytes < 0 || g.MinBytes > sizeLimit {
		faults = append(faults, fmt.Errorf("min_bytes is %d: use 0 to %d", g.MinBytes, sizeLimit))
	}
	if g.MinCount < 0 {
		faults = append(faults, fmt.Errorf("min_count is %d: use 1 or more", g.MinCount))
	}
	if g.MinCount > 1 && !isGlob(g.Path) {
		faults = append(faults, fmt.Errorf("min_count = %d on the path %s, which is one file: use a pattern such as docs/*.md", g.MinCount, g.Path))
	}
	return exprs, errors.Join(faults...)
}

// expressions are a guard's two, compiled; nil where it has none.
type expressions struct{ contains, notContains *regexp.Regexp }

func compile(g mission.ArtifactGuard) (e expressions, err error) {
	one := func(key, text string) *regexp.Regexp {
		if text == "" {
			return nil
		}
		re, bad := regexp.Compile(text)
		if bad != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", key, bad))
		}
		return re
	}
	e.contains, e.notContains = one("contains", g.Contains), one("not_contains", g.NotContains)
	return e, err
}

// Artifact wants files in the mission's folder: as many as min_count that fit the
// path, and every one that fits with min_bytes bytes and passing both
// expressions; folders that fit a pattern do not count. Expressions see text with LF
// line ends and without a mark. A file that is too large, or is no UTF-8 where an
// expression must look into it, could not be evaluated. A missing file is a fact like
// any other.
func Artifact(folder Folder, g mission.ArtifactGuard) Result {
	r := Result{Guard: "artifact " + g.Path, Expected: wants(g)}
	exprs, err := check(g)
	if err != nil {
		return r.failed(strings.ReplaceAll(err.Error(), "\n", "; "), "mend the definition")
	}
	g.Path = path.Clean(g.Path)
	root, err := folder.open()
	if err != nil {
		return r.failed(err.Error(), "make the mission's folder readable")
	}
	if root != nil {
		defer root.Close()
	}
	e := examination{folder: folder, root: root, guard: g, exprs: exprs, result: r}
	return e.run()
}

func wants(g mission.ArtifactGuard) string {
	text := "the file " + g.Path
	if isGlob(g.Path) {
		text = fmt.Sprintf("at least %d files %s", max(1, g.MinCount), g.Path)
		if g.MinCount <= 1 {
			text = "a file " + g.Path
		}
		if more := ofEach(g); more != "" {
			return text + ", each" + more
		}
		return text
	}
	return text + ofEach(g)
}

// ofEach is what every file must be that is examined.
func ofEach(g mission.ArtifactGuard) (text string) {
	if g.MinBytes > 1 {
		text += fmt.Sprintf(" of at least %d bytes", g.MinBytes)
	}
	if g.Contains != "" {
		text += " that contains " + g.Contains
	}
	if g.NotContains != "" {
		text += " without " + g.NotContains
	}
	return text
}

func (r Result) failed(why, fix string) Result {
	r.Verdict, r.Examined, r.Fix = Failed, why, fix
	return r
}
