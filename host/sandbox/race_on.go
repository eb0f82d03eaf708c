//go:build race

package sandbox

import "os"

// raceEnv hands a child that is built with the race detector the detector's
// options: without them it sleeps for a second when it ends.
func raceEnv() []string { return []string{"GORACE=" + os.Getenv("GORACE")} }
