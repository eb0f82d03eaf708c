//go:build !unix

package sandbox

import "os"

// private tells whether a folder is one. Who may write to it is not looked at
// here; a user's own cache folder is private by its inherited rights.
func private(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir()
}
