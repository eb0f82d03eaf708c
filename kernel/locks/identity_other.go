//go:build !unix

package locks

import (
	"io/fs"
	"path/filepath"
)

// identity is the file's absolute path without links.
func identity(path string, _ fs.FileInfo) any {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return path
}
