//go:build !unix

package runner

import "os"

// mayWrite is why this process may not write to a file that is there. It opens it
// and writes nothing; of a folder that cannot be told without making something in it.
func mayWrite(path string) error {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

func isReadOnly(error) bool { return false }
