package proc

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Stat gives the fields of a process's stat from its state on, in the kernel's words:
// the name before it may hold anything. None where there is no such process.
func Stat(pid int) []string {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	end := bytes.LastIndexByte(raw, ')')
	if err != nil || end < 0 {
		return nil
	}
	return strings.Fields(string(raw[end+1:]))
}

// Where fields stand in Stat.
const (
	state  = 0
	Parent = 1 // the parent's id
	group  = 2
	Start  = 19 // when it started, in the kernel's ticks since the boot
)

// Live tells whether a Stat is that of a process that has not ended, and is whole.
func Live(stat []string) bool { return len(stat) > Start && stat[state] != "Z" && stat[state] != "X" }

// All are the processes that have not ended and are wanted by their Stat.
func All(wanted func(stat []string) bool) []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var found []int
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if s := Stat(pid); Live(s) && wanted(s) {
			found = append(found, pid)
		}
	}
	return found
}

// Group are the processes of a group that have not ended.
func Group(id int) []int {
	text := strconv.Itoa(id)
	return All(func(stat []string) bool { return stat[group] == text })
}

// AwaitEnd returns when a child has ended, without reaping it, and tells whether it
// did so.
func AwaitEnd(p *os.Process) bool {
	for {
		err := unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err == nil
		}
	}
}
