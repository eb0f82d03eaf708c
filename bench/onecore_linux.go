package main

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// canOneCore tells whether a program can be kept to one core.
const canOneCore = true

// onOneCore calls start with all that it starts kept to one core: a process has
// the affinity of the thread that started it.
func onOneCore(start func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return err
	}
	for core := 0; one.Count() == 0; core++ {
		if all.IsSet(core) {
			one.Set(core)
		}
	}
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return err
	}
	err := start()
	if back := unix.SchedSetaffinity(0, &all); err == nil {
		err = back
	}
	return err
}
