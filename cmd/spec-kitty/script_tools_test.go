package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// hasTools tells whether this machine can build guests in a language. With
// SPEC_KITTY_TEST_TOOLS=all it says so of every language: what is missing then
// fails the script that wants it.
func hasTools(lang string) (bool, error) {
	has, known := map[string]func() bool{"go": hasGo, "c": hasWASILibrary, "rust": hasRust, "assemblyscript": hasAssemblyScript}[lang]
	if !known {
		return false, fmt.Errorf("no tools are known for the language %q", lang)
	}
	return os.Getenv("SPEC_KITTY_TEST_TOOLS") == "all" || has(), nil
}

func hasGo() bool {
	_, err := exec.LookPath("go")
	return err == nil
}

// hasWASILibrary tells whether clang can build C for WASI.
func hasWASILibrary() bool {
	_, missing := exec.LookPath("wasm-ld")
	out, err := exec.Command("clang", "--target=wasm32-wasi", "-print-file-name=libc.a").Output()
	return missing == nil && err == nil && filepath.IsAbs(strings.TrimSpace(string(out)))
}

// hasRust looks where the starter's build.sh looks.
func hasRust() bool {
	for _, rustc := range []string{"rustc", "/usr/bin/rustc"} {
		for _, target := range []string{"wasm32-wasip1", "wasm32-wasi"} {
			out, err := exec.Command(rustc, "--print", "target-libdir", "--target", target).Output()
			if err != nil {
				continue
			}
			if _, err := os.Stat(strings.TrimSpace(string(out))); err == nil {
				return true
			}
		}
	}
	return false
}

// hasAssemblyScript wants the compiler in the folder that NODE_MODULES names: a
// test fetches nothing.
func hasAssemblyScript() bool {
	_, err := os.Stat(filepath.Join(os.Getenv("NODE_MODULES"), "assemblyscript", "package.json"))
	return err == nil && os.Getenv("NODE_MODULES") != ""
}
