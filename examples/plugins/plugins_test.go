package plugins

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const maxSize = 200_000 // bytes of one committed plugin

// names are the plugins in C, which run as native programs as well.
func names() []string { return []string{"changelog", "scaffold", "spec-lint", "test-gate"} }

// committed are the plugins whose modules lie beside their sources, in the order
// of SHA256SUMS.
func committed() []string {
	all := append(names(), "clarify", "wp-graph")
	slices.Sort(all)
	return all
}

// guests are all plugins. The one in Go is too large to commit: it is built. The
// one in JavaScript is a script, which the engine runs.
func guests() []string { return append(committed(), "links", script) }

// script is the plugin in JavaScript; its folder is src.
const script = "trace"

// The committed bytes are small and are those that SHA256SUMS lists.
func TestCommitted(t *testing.T) {
	sums, err := os.ReadFile("SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, name := range committed() {
		file := name + "/" + name + ".wasm"
		wasm, err := os.ReadFile(filepath.FromSlash(file))
		if err != nil {
			t.Fatal(err)
		}
		if len(wasm) >= maxSize {
			t.Errorf("%s has %d bytes, fewer than %d are wanted", file, len(wasm), maxSize)
		}
		sum := sha256.Sum256(wasm)
		want.WriteString(hex.EncodeToString(sum[:]) + "  " + file + "\n")
	}
	if string(sums) != want.String() {
		t.Errorf("SHA256SUMS is not that of the committed files, run build.sh; want\n%s", want.String())
	}
}

// Wherever the compiler is present, building again gives the same bytes.
func TestRebuild(t *testing.T) {
	clang := findCompiler(t)
	out := t.TempDir()
	build := exec.Command("sh", "build.sh", out)
	build.Env = append(os.Environ(), "CLANG="+clang)
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build.sh: %v\n%s", err, text)
	}
	compareBuilt(t, out, names())
}

// The same for those that build-sdk.sh builds, each where its compiler is.
func TestRebuildOfOtherLanguages(t *testing.T) {
	out := t.TempDir()
	build := exec.Command("sh", "build-sdk.sh", out)
	var built []string
	if version, err := exec.Command("/usr/bin/rustc", "--version").Output(); err == nil && strings.HasPrefix(string(version), "rustc 1.63.0") {
		built = append(built, "clarify")
		build.Env = append(os.Environ(), "RUSTC=/usr/bin/rustc")
	} else {
		build.Env = append(os.Environ(), "RUSTC=none")
	}
	if os.Getenv("NODE_MODULES") != "" {
		built = append(built, "wp-graph")
	}
	if len(built) == 0 || testing.Short() {
		t.Skip("no Rust 1.63 of the system and no NODE_MODULES, or a short run")
	}
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build-sdk.sh: %v\n%s", err, text)
	}
	compareBuilt(t, out, built)
}

func compareBuilt(t *testing.T, out string, names []string) {
	t.Helper()
	for _, name := range names {
		committed, err := os.ReadFile(filepath.Join(name, name+".wasm"))
		if err != nil {
			t.Fatal(err)
		}
		built, err := os.ReadFile(filepath.Join(out, name+".wasm"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(committed, built) {
			t.Errorf("%s: building the sources gives other bytes than the committed ones; run build.sh and commit", name)
		}
	}
}

// findCompiler skips the test unless the compiler is the one that the committed
// bytes come from: another version is free to give other bytes.
func findCompiler(t *testing.T) string {
	const want = "Debian clang version 14.0.6"
	clang, err := exec.LookPath("clang-14")
	if err != nil {
		t.Skip("no clang-14 on this machine")
	}
	version, err := exec.Command(clang, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	if first, _, _ := strings.Cut(string(version), "\n"); first != want {
		t.Skipf("the committed bytes are from %q, here is %q", want, first)
	}
	libc, err := exec.Command(clang, "--target=wasm32-wasi", "-print-file-name=libc.a").Output()
	if err != nil {
		t.Fatal(err)
	}
	if !filepath.IsAbs(strings.TrimSpace(string(libc))) {
		t.Skipf("%s, but no wasi-libc", want)
	}
	return clang
}
