//go:build race

package commit_test

const raceDetector = true
