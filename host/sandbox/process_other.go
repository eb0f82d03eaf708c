//go:build !unix

package sandbox

import "os"

const neutralDir = ""

// childEnv keeps what Windows needs to load system libraries.
func childEnv() []string {
	if root := os.Getenv("SYSTEMROOT"); root != "" {
		return []string{"SYSTEMROOT=" + root}
	}
	return []string{}
}

// reapFiller has nothing to do: there are no zombies here.
func reapFiller(int, bool) bool { return true }
