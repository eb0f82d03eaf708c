package tick

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/spec-kitty/step-runner/host/internal/proc"
)

func clock(id int32) time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

func bootClock() time.Duration  { return clock(unix.CLOCK_BOOTTIME) }
func awakeClock() time.Duration { return clock(unix.CLOCK_MONOTONIC) }

// processSpace tells containers on one machine apart: process ids mean something
// in their own space only.
func processSpace() string {
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return "/" + space
}

// memberMarked tells whether a process of the group has the run's mark in its
// environment.
func memberMarked(group int, mark string) bool {
	for _, pid := range proc.Group(group) {
		if isMarked(pid, mark) {
			return true
		}
	}
	return false
}

func isMarked(pid int, mark string) bool {
	env, err := environment(pid)
	if err != nil {
		return false
	}
	for one := range bytes.SplitSeq(env, []byte{0}) {
		name, value, _ := strings.Cut(string(one), "=")
		if value == mark && (name == variable || name == noticeVariable) {
			return true
		}
	}
	return false
}

func environment(pid int) ([]byte, error) {
	return os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
}

// markAbove looks for a run's mark in the environment of the processes that we come
// from, as far as they are still there.
func markAbove() string {
	for pid, most := os.Getppid(), 64; pid > 1 && most > 0; most-- {
		env, _ := environment(pid) // another user's cannot be read, and is none of a run of ours
		for one := range bytes.SplitSeq(env, []byte{0}) {
			if name, value, _ := strings.Cut(string(one), "="); name == variable {
				return value
			}
		}
		stat := proc.Stat(pid)
		if !proc.Live(stat) {
			return ""
		}
		pid, _ = strconv.Atoi(stat[proc.Parent])
	}
	return ""
}

func tellsEscaped() bool { return true }

// escaped are the processes of a run that are still there, whatever group they are
// in.
func escaped(mark string) []int {
	var found []int
	for _, pid := range proc.All(func([]string) bool { return true }) {
		if isMarked(pid, mark) {
			found = append(found, pid)
		}
	}
	return found
}

// groupTicks is the processor time that a group has used, in the kernel's ticks.
// Of processes that ended it counts what those that waited for them tell.
func groupTicks(group int) uint64 {
	var sum uint64
	for _, pid := range proc.Group(group) {
		f := proc.Stat(pid)
		for _, i := range []int{11, 12, 13, 14} { // utime, stime, cutime, cstime
			if len(f) > i {
				n, _ := strconv.ParseUint(f[i], 10, 64)
				sum += n
			}
		}
	}
	return sum
}
