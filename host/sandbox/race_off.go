//go:build !race

package sandbox

// raceSlower is that nothing is slower.
const raceSlower = 1

// raceEnv is nothing: the child is built without the race detector.
func raceEnv() []string { return nil }
