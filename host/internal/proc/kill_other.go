//go:build !unix

package proc

import "os"

// KillGroup ends the process alone: groups are not to be had here.
func KillGroup(p *os.Process) { _ = p.Kill() }
