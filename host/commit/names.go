package commit

import (
	"fmt"
	"path/filepath"
	"strings"
)

const (
	lockSuffix    = ".lock"
	indexName     = "index"
	indexLockName = "index.lock"
	rosterName    = ".roster"
	runsName      = "runs"
	successorName = "successor.json"
	privatePrefix = ".new-"
	ignoreName    = ".gitignore"

	folderPerm = 0o755
	filePerm   = 0o644
)

// checkName refuses what cannot be one safe path element: slugs, ids, parts
// of file names. It has no leading dot, so it never names our own files.
func checkName(what, name string) error {
	ok := name != "" && len(name) <= 255 && name[0] != '.' && name[len(name)-1] != '.'
	for i := 0; ok && i < len(name); i++ {
		c := name[i]
		ok = c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_' || c == '.'
	}
	if !ok {
		return fmt.Errorf("%s %q: use letters, digits, '-', '_' and '.', beginning with a letter or digit", what, name)
	}
	return nil
}

// beside gives the path of a further file of a run; name may have folders.
func (s *run[S, F, E]) beside(name string) (string, error) {
	if name == viewName || name == viewName+lockSuffix || name == s.opts.Journal || name == successorName || name == successorName+lockSuffix {
		return "", fmt.Errorf("the name %q is the run's own", name)
	}
	for part := range strings.SplitSeq(name, "/") {
		if err := checkName("file name", part); err != nil {
			return "", err
		}
	}
	return filepath.Join(s.dir, filepath.FromSlash(name)), nil
}
