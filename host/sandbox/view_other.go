//go:build !windows

package sandbox

func unsafeName(string) bool { return false }
