package sandbox

import (
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// hasLifeline is false: the kernel ends the child with its parent (Pdeathsig).
const hasLifeline = false

// confine sets the child's limits, before it reads anything. RLIMIT_DATA counts
// private writable memory, which is what a bomb takes; but the kernel looks at it
// only before a mapping that replaces none, and Go reserves its heap first and then
// maps it in place: one allocation of any size gets through (a guest asks for it by
// growing its table). So the address space is limited as well, to what Go has
// reserved by now, which is gigabytes, and as much again as the data.
func confine(m mode, memory int64) error {
	if err := closeInherited(); err != nil {
		return err
	}
	space, err := addressSpace()
	if err != nil {
		return err
	}
	limits := []limit{
		{unix.RLIMIT_DATA, uint64(dataLimit(memory))},
		{unix.RLIMIT_AS, uint64(space + dataLimit(memory))},
		{unix.RLIMIT_NOFILE, maxFiles + 64},
		{unix.RLIMIT_CORE, 0},
	}
	if m == fill {
		limits = append(limits, limit{unix.RLIMIT_CPU, fillCPU})
	} else {
		limits = append(limits, limit{unix.RLIMIT_FSIZE, 0})
		signal.Ignore(syscall.SIGXFSZ) // a write is to fail, not to end the child
	}
	return setLimits(limits)
}

// addressSpace is how much this process has, in bytes.
func addressSpace() (int64, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	pages, _, _ := strings.Cut(string(text), " ")
	n, err := strconv.ParseInt(pages, 10, 64)
	return n * int64(os.Getpagesize()), err
}

// closeInherited closes descriptors that our own parent left open for its
// children by mistake. Those of Go's runtime are marked close-on-exec, so
// whatever came with the program is not.
func closeInherited() error {
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, entry := range open {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd < 3 || !inherited(entry.Name()) {
			continue
		}
		if err := unix.Close(fd); err != nil {
			return err
		}
	}
	return nil
}

// inherited looks at a descriptor's flags. One that is gone is the listing's own.
func inherited(fd string) bool {
	info, err := os.ReadFile("/proc/self/fdinfo/" + fd)
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(info), "flags:")
	line, _, _ := strings.Cut(rest, "\n")
	flags, err := strconv.ParseUint(strings.TrimSpace(line), 8, 64)
	return err == nil && flags&unix.O_CLOEXEC == 0
}

// stepBack gives all threads of this process the lowest priority; they are the
// process group.
func stepBack() error { return unix.Setpriority(unix.PRIO_PGRP, 0, 19) }

func childAttr(background bool) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if !background {
		attr.Pdeathsig = syscall.SIGKILL
	}
	return attr
}
