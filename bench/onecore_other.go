//go:build !linux

package main

// canOneCore is false: the rows of one core are left out here.
const canOneCore = false

// onOneCore calls start, on as many cores as there are.
func onOneCore(start func() error) error { return start() }
