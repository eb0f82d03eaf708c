package sandbox

import (
	"fmt"
	"time"
)

// Defaults and bounds of Limits.
const (
	defaultMemory      = 64 << 20
	minMemory          = 4 << 20 // a Go guest begins with 46 pages
	maxMemory          = 2 << 30
	defaultTimeout     = 10 * time.Second
	maxTimeout         = time.Hour // also of what a run froze, which may be anybody's
	defaultCompileTime = 60 * time.Second * raceSlower
	defaultOutput      = 1 << 20
	maxOutput          = 4 << 20 // what plugins/abi reads at most
	defaultLog         = 256 << 10
	maxLog             = 4 << 20
	defaultFiles       = 64
	maxFiles           = 256
	maxRequest         = 1 << 20

	// grace is how much longer than its deadline the parent leaves a child: time
	// to end by itself with a better message.
	grace = 250 * time.Millisecond

	// ownMemory is what the child may take beyond twice the guest's memory: it
	// held every hostile module that was tried, and compiles what is sane.
	ownMemory = 640 << 20
)

// filled sets defaults and refuses what cannot be.
func (l Limits) filled() (Limits, error) {
	or := func(v *int64, normal int64) {
		if *v == 0 {
			*v = normal
		}
	}
	or(&l.Memory, defaultMemory)
	or((*int64)(&l.Timeout), int64(defaultTimeout))
	or((*int64)(&l.CompileTime), int64(defaultCompileTime))
	or(&l.Output, defaultOutput)
	or(&l.Log, defaultLog)
	if l.Files == 0 {
		l.Files = defaultFiles
	}
	switch {
	case l.Memory < minMemory || l.Memory > maxMemory:
		return l, fmt.Errorf("memory is %d bytes, must be from %d MiB to %d MiB", l.Memory, minMemory>>20, maxMemory>>20)
	case l.Timeout < 0 || l.CompileTime < 0 || l.Timeout > maxTimeout || l.CompileTime > maxTimeout:
		return l, fmt.Errorf("timeout is %v, compiling has %v: each is at most %v", l.Timeout, l.CompileTime, maxTimeout)
	case l.Output < 0 || l.Output > maxOutput:
		return l, fmt.Errorf("output is %d bytes, must be at most %d MiB", l.Output, maxOutput>>20)
	case l.Log < 0 || l.Log > maxLog:
		return l, fmt.Errorf("log is %d bytes, must be at most %d MiB", l.Log, maxLog>>20)
	case l.Files < 0 || l.Files > maxFiles:
		return l, fmt.Errorf("files is %d, must be at most %d", l.Files, maxFiles)
	}
	l.Memory = l.Memory / wasmPage * wasmPage
	return l, nil
}
