//go:build !unix

package sandbox

import "testing"

func makeFIFO(*testing.T, string) {}
