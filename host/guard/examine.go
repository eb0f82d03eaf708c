package guard

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spec-kitty/step-runner/host/internal/readonly"
	"github.com/spec-kitty/step-runner/host/mission"
)

// examination is one artifact guard at work.
type examination struct {
	folder Folder
	root   *os.Root
	guard  mission.ArtifactGuard
	exprs  expressions
	result Result

	sound   []string // what was found in order
	lacking []string // sentences
	unclear []string // sentences
	fix     string   // of the first fault
}

func (e *examination) run() Result {
	names, err := e.names()
	if err != nil {
		return e.result.failed(err.Error(), "make the folders readable")
	}
	files := 0
	for _, name := range names {
		if e.examine(name) {
			files++
		}
	}
	if short := max(1, e.guard.MinCount) - files; short > 0 && isGlob(e.guard.Path) {
		e.lack(fmt.Sprintf("%d files that fit", files), fmt.Sprintf("write %d more in the mission's folder", short))
	}
	return e.verdict()
}

// names lists what to examine. The fact is made of the very listing that is
// examined: one read a moment later could hold a file that nobody looked at.
func (e *examination) names() ([]string, error) {
	if !isGlob(e.guard.Path) {
		return []string{e.guard.Path}, nil
	}
	found, err := onDisk(e.root, e.guard.Path)
	e.fact(listingPrefix+e.guard.Path, listingDigest(found, err))
	if err != nil {
		return nil, err
	}
	return e.folder.withStaged(found, e.guard.Path)
}

func (e *examination) fact(name, digest string) {
	e.result.Facts = append(e.result.Facts, Fact{Name: name, Digest: digest})
}

func (e *examination) lack(found, fix string) {
	e.lacking = append(e.lacking, found)
	if e.fix == "" {
		e.fix = fix
	}
}

func (e *examination) unknown(why, fix string) {
	e.unclear = append(e.unclear, why)
	if e.fix == "" {
		e.fix = fix
	}
}

// examine looks at one name; ok is false for a folder that fits a pattern.
func (e *examination) examine(name string) (ok bool) {
	data, err := e.folder.read(e.root, name)
	if _, staged := e.folder.Staged[name]; !staged {
		e.fact(artifactPrefix+name, digestOf(data, err))
	}
	var odd *readonly.NotRegularError
	switch {
	case err == nil:
		e.content(name, data)
	case isGlob(e.guard.Path) && errors.As(err, &odd) && odd.Mode.IsDir():
		return false
	default:
		e.absent(name, err)
	}
	return true
}

func (e *examination) absent(name string, err error) {
	var large *readonly.TooLargeError
	var outside *readonly.OutsideError
	var odd *readonly.NotRegularError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.lack("no such file", "write "+name+" in the mission's folder")
	case errors.As(err, &outside):
		e.lack(err.Error(), "put the file itself into the mission's folder")
	case errors.As(err, &odd):
		e.lack(err.Error(), "put a file in its place")
	case errors.As(err, &large):
		e.unknown(err.Error(), "make it smaller, or guard a smaller file")
	default:
		e.unknown(err.Error(), "make "+name+" readable")
	}
}

func (e *examination) content(name string, data []byte) {
	before := len(e.lacking) + len(e.unclear)
	if least := max(1, e.guard.MinBytes); int64(len(data)) < least {
		found := fmt.Sprintf("%s has %d bytes", name, len(data))
		if len(data) == 0 {
			found = name + " is empty"
		}
		e.lack(found, "write it out")
	}
	if e.exprs.contains != nil || e.exprs.notContains != nil {
		e.expressions(name, data)
	}
	if len(e.lacking)+len(e.unclear) == before {
		e.sound = append(e.sound, fmt.Sprintf("%s, %d bytes", name, len(data)))
	}
}

// expressions refuses to judge what is no text: a word in another encoding would
// pass unseen by not_contains.
func (e *examination) expressions(name string, data []byte) {
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		e.unknown(name+" is not UTF-8 text", "save it as UTF-8")
		return
	}
	text := bytes.ReplaceAll(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), []byte("\r\n"), []byte("\n"))
	if re := e.exprs.contains; re != nil && !re.Match(text) {
		e.lack(fmt.Sprintf("%s has nothing that matches %s", name, re), "add it")
	}
	if re := e.exprs.notContains; re != nil {
		if at := re.FindIndex(text); at != nil {
			line := 1 + bytes.Count(text[:at[0]], []byte("\n"))
			e.lack(fmt.Sprintf("%s:%d matches %s", name, line, re), "take it out")
		}
	}
}

// verdict is a refusal as soon as something is known to be wrong; what is unclear
// beside it is told with it.
func (e *examination) verdict() Result {
	r := e.result
	switch {
	case len(e.lacking) > 0:
		r.Verdict, r.Examined, r.Fix = Refuse, strings.Join(append(e.lacking, e.unclear...), "; "), e.fix
	case len(e.unclear) > 0:
		return r.failed(strings.Join(e.unclear, "; "), e.fix)
	default:
		r.Verdict, r.Examined = Allow, strings.Join(e.sound, "; ")
	}
	return r
}
