//go:build !unix

package main

import (
	"errors"
	"os"
	"os/exec"
)

// replace runs the program and gives its exit code.
func replace(program string, args, env []string) (int, error) {
	cmd := exec.Command(program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = os.Stdin, os.Stdout, os.Stderr, env
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}
