package config

import (
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spec-kitty/step-runner/host/mission"
)

// duration reads "10s". Where it is missing or wrong the result is absent.
func (t *table) duration(key string, least, most, absent time.Duration) time.Duration {
	text, ok := typed[string](t, key, `a duration in quotes such as "10s"`)
	if !ok {
		return absent
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		t.wrong(key, `%q is no duration: it needs a number and a unit, such as "500ms", "10s" or "2m"`, text)
	case d < least || d > most:
		t.wrong(key, "must be from %v to %v, not %v", least, most, d)
	default:
		return d
	}
	return absent
}

// size reads "64MiB". Where it is missing or wrong the result is absent.
func (t *table) size(key string, least, most, absent int64) int64 {
	text, ok := typed[string](t, key, `a size in quotes such as "64MiB"`)
	if !ok {
		return absent
	}
	n, ok := ParseSize(text)
	switch {
	case !ok:
		t.wrong(key, `%q is no size: it needs a whole number and a unit, one of B, KiB, MiB and GiB`, text)
	case n < least || n > most:
		t.wrong(key, "must be from %s to %s, not %s", sizeText(least), sizeText(most), text)
	default:
		return n
	}
	return absent
}

// ParseSize reads a whole number with a unit: "64MiB"; B, KiB, MiB or GiB.
func ParseSize(text string) (int64, bool) {
	digits := strings.TrimRight(text, "BKMGi")
	shift := slices.Index([]string{"B", "KiB", "MiB", "GiB"}, text[len(digits):]) * 10
	n, err := strconv.ParseUint(strings.TrimSpace(digits), 10, 32)
	if err != nil || shift < 0 {
		return 0, false
	}
	return int64(n) << shift, true
}

func sizeText(n int64) string {
	unit := 0
	for n >= 1024 && n%1024 == 0 {
		n, unit = n/1024, unit+1
	}
	return strconv.FormatInt(n, 10) + []string{"B", "KiB", "MiB", "GiB"}[unit]
}

// oneOf reads one of a few words; the first is the default.
func (t *table) oneOf(key string, words ...string) string {
	word, ok := typed[string](t, key, "text in quotes")
	if !ok {
		return words[0]
	}
	if !slices.Contains(words, word) {
		t.read.add(t.at(key), mission.Nearest(word, words), "must be one of %s, not %q", strings.Join(words, ", "), word)
		return words[0]
	}
	return word
}

// pathBelow reads a path below the project root, with slashes on every system.
func (t *table) pathBelow(key, absent string) string {
	text, ok := typed[string](t, key, "a path in quotes")
	if !ok {
		return absent
	}
	if why := notBelow(text); why != "" {
		t.wrong(key, "%q %s; a path below the project root was expected", text, why)
		return absent
	}
	return path.Clean(text)
}

// notBelow says why a path is none below the project root; empty if it is one.
func notBelow(text string) string {
	switch {
	case text == "":
		return "is empty"
	case strings.ContainsFunc(text, unicode.IsControl):
		return "holds a control character"
	case strings.Contains(text, `\`):
		return "holds a backslash: write / on every system"
	case path.IsAbs(text) || filepath.IsAbs(filepath.FromSlash(text)):
		return "is absolute"
	case !filepath.IsLocal(filepath.FromSlash(text)):
		return "leads out of the project"
	}
	return ""
}

// stateDir reads the state root, which may also lie elsewhere: state is kept on
// a local disk where the project itself lies on a shared one. An absolute path that
// lies in the project, whose root is given, is the same as the one from there.
func (t *table) stateDir(key, absent, root string) string {
	text, ok := typed[string](t, key, "a path in quotes")
	if !ok {
		return absent
	}
	if filepath.IsAbs(filepath.FromSlash(text)) {
		clean := filepath.ToSlash(filepath.Clean(filepath.FromSlash(text)))
		inside, ok := strings.CutPrefix(clean+"/", strings.TrimSuffix(root, "/")+"/")
		if !ok {
			return clean
		}
		text = path.Clean(inside)
	}
	why := notBelow(text)
	if path.Clean(text) == "." && why == "" {
		why = "is the project root itself, which the state's .gitignore would hide"
	}
	if why != "" {
		t.wrong(key, "%q %s; a folder below the project root, or an absolute path, was expected", text, why)
		return absent
	}
	return path.Clean(text)
}

// overlap tells whether two clean paths lie in one another. The project root
// itself may hold the missions' folders; the state is no mission there.
func overlap(a, b string) bool {
	within := func(inner, outer string) bool {
		return inner == outer || strings.HasPrefix(inner, outer+"/")
	}
	return within(a, b) || within(b, a)
}
