//go:build !linux

package durable

func shared(string) string { return "" }

func kind(string) string { return "" }
