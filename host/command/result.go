package command

import (
	"fmt"
	"time"
)

// End is how a program came to its end.
type End string

// The ends. Only Exited says anything about what the program found.
const (
	Exited     End = "exited"      // by itself, with an exit code
	Signaled   End = "signaled"    // by a signal that was not ours
	NotStarted End = "not_started" // no such program, not executable, no folder
	TimedOut   End = "timed_out"   // ended by us at the time's end
	Canceled   End = "canceled"    // ended by us, for the context's end
)

// Verdict is what a program's end says where it is asked for a yes or a no.
type Verdict string

// The verdicts. Failed is "could not be evaluated": neither a yes nor a no.
const (
	Allow  Verdict = "allow"
	Refuse Verdict = "refuse"
	Failed Verdict = "error"
)

// Result is how one run of a command went.
type Result struct {
	End      End
	Exit     int           // the exit code; -1 unless Exited
	Signal   string        // with Signaled, such as "killed"
	Err      error         // with NotStarted why; with Canceled the context's cause
	Duration time.Duration // from the start to the end of the program itself
	Stdout   Output        // both empty where the command had a Log
	Stderr   Output

	// Leftovers is how many processes of the group were still there when its
	// leader ended, and were killed. -1: some were; how many is not known here.
	Leftovers int
	// Unkillable: something of the group was still there when Run gave up waiting
	// for its end, a few seconds after KILL.
	Unkillable bool
	// Held: a process that had left the group held an output open. What it wrote
	// later is not in the result, and it was not ended.
	Held bool
}

// Output is what a program wrote to one stream.
type Output struct {
	Kept      []byte // the last bytes, as many as the command keeps
	Bytes     int64  // of all that was written
	SHA256    string // of all that was written, in hexadecimal
	Truncated bool   // Kept is not all
}

// Verdict takes exit 0 for yes and exit 1 for no. Everything else is neither: an
// exit code of 2, of 126 or 127 (a shell's word for a mistyped name), a signal,
// an end that we made, a program that is not there.
func (r Result) Verdict() Verdict {
	switch {
	case r.End == Exited && r.Exit == 0:
		return Allow
	case r.End == Exited && r.Exit == 1:
		return Refuse
	}
	return Failed
}

// String is the end in a few words, for people.
func (r Result) String() string {
	took := r.Duration.Round(time.Millisecond)
	text := ""
	switch r.End {
	case Exited:
		text = fmt.Sprintf("exit %d after %v", r.Exit, took)
	case Signaled:
		text = fmt.Sprintf("ended by the signal %s after %v", r.Signal, took)
	case NotStarted:
		return fmt.Sprintf("could not be started: %v", r.Err)
	case TimedOut:
		text = fmt.Sprintf("did not end within its time and was killed after %v", took)
	default:
		text = fmt.Sprintf("was canceled after %v", took)
	}
	switch {
	case r.Leftovers == 1:
		text += "; a process that it left behind was killed"
	case r.Leftovers != 0:
		text += "; the processes that it left behind were killed"
	}
	if r.Unkillable {
		text += "; something of it was still there after that"
	}
	if r.Held {
		text += "; a process outside of its group held an output open, and was not ended"
	}
	return text
}
