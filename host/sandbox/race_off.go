//go:build !race

package sandbox

// raceEnv is nothing: the child is built without the race detector.
func raceEnv() []string { return nil }
