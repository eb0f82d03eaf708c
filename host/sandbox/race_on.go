//go:build race

package sandbox

import (
	"cmp"
	"os"
)

// raceSlower is how much longer compiling may take: wazero's compiler under the
// detector needs many times what it needs without.
const raceSlower = 10

// raceEnv hands a child that is built with the race detector the detector's
// options: without any it sleeps for a second when it ends.
func raceEnv() []string {
	return []string{"GORACE=" + cmp.Or(os.Getenv("GORACE"), "atexit_sleep_ms=0")}
}
