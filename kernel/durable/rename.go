package durable

import "time"

// A rename over a file that somebody has open fails on Windows, and readers and
// virus scanners have files open for moments. So it is tried again for a bounded
// time; a file that stays open is the caller's error.
const (
	renameTries = 10
	renamePause = 5 * time.Millisecond
)

// again tries a rename until it works or fails for good: passing tells the errors
// that may go by themselves.
func again(rename func() error, passing func(error) bool, pause func(time.Duration)) error {
	for range renameTries - 1 {
		err := rename()
		if err == nil || !passing(err) {
			return err
		}
		pause(renamePause)
	}
	return rename()
}
