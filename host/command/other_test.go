//go:build !linux

package command_test

func whoDies() {}

func whoDiesWatching() {}
