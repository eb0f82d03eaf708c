// Package sdk holds, as text, what a plugin's own code begins with: for each
// language the request as types, the answers, the files of a folder, and no
// framework. An author copies the files; they are whole, want no other library,
// and are what `spec-kitty plugin new` puts into a folder. All functions may be
// called concurrently.
package sdk

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed go/guest rust assemblyscript
var files embed.FS

// Files are the files of a language's SDK by path, from the folder of the
// language; none for a language that has none.
func Files(lang string) map[string][]byte {
	all := map[string][]byte{}
	// Nothing can fail: the tree is in memory.
	_ = fs.WalkDir(files, lang, func(at string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(at, "_test.go") {
			return err
		}
		data, err := files.ReadFile(at)
		all[strings.TrimPrefix(at, lang+"/")] = data
		return err
	})
	return all
}
