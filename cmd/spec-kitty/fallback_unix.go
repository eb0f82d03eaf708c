//go:build unix

package main

import "syscall"

// replace puts the program into this process's place; it returns only where
// that failed.
func replace(program string, args, env []string) (int, error) {
	return 0, syscall.Exec(program, append([]string{program}, args...), env)
}
