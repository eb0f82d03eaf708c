//go:build !linux

package sandbox

const engineWord = "SANDBOX_TEST_NO_CODE"

func withoutCode() {}
