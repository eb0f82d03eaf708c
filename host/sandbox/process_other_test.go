//go:build !linux

package sandbox

func hangForever() {}
