package command

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func attributes(session bool) *syscall.SysProcAttr {
	attr := ownGroup(session)
	if !session {
		attr.Pdeathsig = syscall.SIGTERM
	}
	return attr
}

// awaitEnd returns when the process has ended, without reaping it, and tells
// whether it did so.
func awaitEnd(p *os.Process) bool {
	for {
		err := unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err == nil
		}
	}
}

// EndGroup kills what is left of a group and waits, a few seconds, until it is
// gone. It is for a group that is known to be the caller's: its leader was not
// reaped yet, or is proven by its identity. killed is how many processes it
// found; left tells that some did not go.
func EndGroup(group int) (killed int, left bool) {
	for deadline := time.Now().Add(unkillable); ; time.Sleep(time.Millisecond) {
		there := len(members(group))
		if there == 0 {
			return killed, false
		}
		killed = max(killed, there)
		// Again each time: what was being forked while the first went round is in
		// the group too.
		_ = syscall.Kill(-group, syscall.SIGKILL)
		if time.Now().After(deadline) {
			return killed, true
		}
	}
}

// GroupLives tells whether any process of a group has not ended.
func GroupLives(group int) bool { return len(members(group)) > 0 }

// members are the processes of a group that have not ended.
func members(group int) []int {
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
		// Fields from the third on: state, parent, group.
		if f := statFields(pid); len(f) > 2 && f[2] == strconv.Itoa(group) && f[0] != "Z" && f[0] != "X" {
			found = append(found, pid)
		}
	}
	return found
}

// Identify gives the identity of a process that has not ended.
func Identify(pid int) (Process, error) {
	f := statFields(pid)
	if len(f) < 20 || f[0] == "Z" || f[0] == "X" {
		return Process{}, os.ErrProcessDone
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return Process{}, err
	}
	return Process{PID: pid, Start: f[19], Boot: strings.TrimSpace(string(boot))}, nil
}

// statFields are the fields of a process's stat behind its name, which may hold
// anything; none where there is no such process.
func statFields(pid int) []string {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	return strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
}

// keepInherited keeps descriptors that came with this program from going on to
// those it starts; Go's own never do. An older kernel cannot, and then they do.
func keepInherited() { _ = unix.CloseRange(3, 1<<31, unix.CLOSE_RANGE_CLOEXEC) }

// self is the path of this very program, also where its file was replaced.
func self() (string, error) { return "/proc/self/exe", nil }
