package sandbox

import (
	"bytes"
	"fmt"
	"strings"
)

// Code names how a call failed.
type Code string

// The ends of a call that are no answer, and what keeps a call from starting.
const (
	Exited        Code = "exited"         // the guest ended with an exit code other than 0
	Trapped       Code = "trapped"        // the guest crashed
	StackOverflow Code = "stack_overflow" // the guest recursed too deep
	TimeLimit     Code = "time_limit"
	MemoryLimit   Code = "memory_limit"
	OutputLimit   Code = "output_limit"
	LogLimit      Code = "log_limit"
	CompileLimit  Code = "compile_limit" // the module is too complex to compile in time
	BadModule     Code = "bad_module"    // the bytes are no plugin of this ABI
	WrongSHA256   Code = "wrong_sha256"  // the bytes are not those that were pinned
	BadAnswer     Code = "bad_answer"    // exit 0, but stdout is no answer
	NotGranted    Code = "not_granted"   // the answer wants what the configuration does not grant
	ChildFailed   Code = "child_failed"  // the child process ended of itself, or could not be started
)

// Failure is why a call gave no answer. Only an answer says yes or no; a
// Failure never does. Its texts hold no control characters and are short.
type Failure struct {
	Plugin string
	Code   Code
	Detail string // what happened and what to do, in a sentence
	Exit   uint32 // with Exited
	Log    string // the escaped tail of the guest's stderr, or ""
}

func (f *Failure) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "plugin %s: %s: %s", f.Plugin, f.Code, f.Detail)
	if f.Log != "" {
		fmt.Fprintf(&b, " (its log ends: %s)", f.Log)
	}
	return b.String()
}

// shownLog is how much of a guest's log a failure shows.
const shownLog = 400

// runtimeEnd is how a child ends whose Go runtime gives up. A guest's own exit
// code is in the report and never the child's.
const runtimeEnd = "exit status 2"

// lastWords splits what a child whose runtime gave up wrote to stderr: the guest's
// log, and why. A guest may have logged the same words, but nothing after them: it
// was over when the runtime spoke, so the last ones are the runtime's.
func (r result) lastWords() (log []byte, why string) {
	at := -1
	for _, begin := range []string{"fatal error: ", "panic: ", "runtime/cgo: "} {
		at = max(at, bytes.LastIndex(r.log, []byte(begin)))
	}
	if r.end != runtimeEnd || at < 0 {
		return r.log, ""
	}
	line, _, _ := strings.Cut(string(r.log[at:]), "\n")
	return r.log[:at], line
}

// outOfMemory tells whether the child ended since it was given no more memory: not
// the guest's own, which is counted apart, but for its tables, for wazero, or for
// compiling it.
func (r result) outOfMemory() bool {
	_, why := r.lastWords()
	for _, words := range []string{"out of memory", "cannot allocate memory", "cannot map pages", "newosproc", "pthread_create failed"} {
		if strings.Contains(why, words) {
			return true // a thread that cannot be made wants memory for its stack
		}
	}
	return false
}

// memoryDetail says what took the memory of a child's process.
func (r result) memoryDetail(l Limits) string {
	what := "its tables and all else that it makes its process keep need more than the"
	if !r.ready {
		what = "loading and compiling the module needs more than the"
	}
	return fmt.Sprintf("%s %d MiB that its process may have with a `memory` of %d MiB", what, dataLimit(l.Memory)>>20, l.Memory>>20)
}

// failureOf judges a child's end: first by what the parent did, then by how the
// process ended, and only then by what it reported. nil is an answer.
func failureOf(p Plugin, r result) *Failure {
	f := &Failure{Plugin: p.Name, Log: tail(r.log, shownLog)}
	switch {
	case r.stopped == TimeLimit:
		f.Code, f.Detail = TimeLimit, fmt.Sprintf("it ran longer than its limit of %v and was killed", p.Limits.Timeout)
	case r.stopped == CompileLimit:
		f.Code, f.Detail = CompileLimit, fmt.Sprintf("the module is too complex: it was not compiled within %v", p.Limits.CompileTime)
	case r.stopped == OutputLimit:
		f.Code, f.Detail = OutputLimit, "it wrote more than it may and was killed"
	case r.stopped == LogLimit:
		f.Code, f.Detail = LogLimit, "it logged more than it may and was killed"
	case r.end == runtimeEnd:
		// What the runtime says tells an author nothing.
		own, _ := r.lastWords()
		f.Log = tail(own, shownLog)
		f.Code, f.Detail = ChildFailed, "its process crashed ("+r.end+")"
		if r.outOfMemory() {
			f.Code, f.Detail = MemoryLimit, r.memoryDetail(p.Limits)
		}
	case r.end != "":
		f.Code, f.Detail = ChildFailed, "its process ended with "+r.end
	case r.report == nil || r.protocol != nil:
		f.Code, f.Detail = ChildFailed, "its process ended as if all were well, but without a whole report: something closed its pipe, or the program was replaced meanwhile; call again"
	case r.report.Code != "":
		f.Code, f.Detail, f.Exit = r.report.Code, tidy(r.report.Detail, 2000), r.report.Exit
	default:
		return nil
	}
	return f
}
