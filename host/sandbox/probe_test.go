package sandbox

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// attempt is one try of the probe and what must come of it, in every language.
type attempt struct{ what, want string }

// attempts on the tree that project makes: first what is granted, then every way
// out of it that a language has.
func attempts(outside, listener string) []attempt {
	all := []attempt{
		{"r /project/docs/a.md", "yes a"},
		{"r /project/docs/good", "yes b"},
		{"r /project/docs/across", "yes spec"},
		{"s /project/docs/sub", "yes folder"},
		{"l /project", "yes docs,kitty-specs"},
		{"l /project/kitty-specs", "yes 034"},
		{"o docs/a.md", "yes"},
		{"env -", "yes 0"},
		{"clock -", fmt.Sprintf("yes %d", guardCall().Now.Unix())},
		{"sock " + listener, "no"},
	}
	secret := filepath.Join(outside, "secret.md")
	for _, path := range []string{
		"/project/secret.md", "/project/docs/hidden", "/project/docs/relative", "/project/docs/absolute",
		"/project/docs/folder/secret.md", "/project/docs/dangling", "/project/docs/round",
		"/project/docs/.git/config", "/project/docs/gitlink", "/project/docs/.kittify/runs/state.json", "/project/docs/state",
		"/project/../outside/secret.md", "/project/docs/../../outside/secret.md", "/project/docs/sub/../../secret.md",
		secret, "/etc/passwd", "/proc/self/environ", "/proc/self/root/etc/passwd", "/dev/urandom", "../outside/secret.md", "../../../../etc/passwd",
	} {
		all = append(all, attempt{"r " + path, "no"}, attempt{"s " + path, "no"}, attempt{"w " + path, "no"}, attempt{"t " + path, "no"})
	}
	for _, path := range []string{"/", "..", "/etc", "/proc", "/proc/self/fd", "/tmp", outside, "/project/..", "/project/docs/folder", "/project/docs/.git", "/project/docs/.kittify"} {
		all = append(all, attempt{"l " + path, "no"})
	}
	for _, path := range []string{"..", "../outside/secret.md", "docs/../../outside/secret.md", "/", "/etc/passwd", secret, "docs/relative", "docs/absolute", "secret.md", "docs/.git/config"} {
		all = append(all, attempt{"o " + path, "no"})
	}
	for _, path := range []string{"/project/docs/a.md", "/project/docs/sub", "/project/docs/good", "/project/docs/relative", "/project/secret.md", secret} {
		for _, op := range []string{"w", "c", "t", "m", "u", "n", "k", "h"} {
			all = append(all, attempt{op + " " + path, "no"})
		}
	}
	for _, path := range []string{"/project/new.md", "/project/docs/new.md", "/project/docs/folder/new.md", "/tmp/new.md", "../new.md"} {
		all = append(all, attempt{"c " + path, "no"}, attempt{"m " + path, "no"}, attempt{"k " + path, "no"})
	}
	return all
}

// P5: what a guest can see of the files outside its grants is nothing, and it
// changes nothing, whatever language it was written in and whatever its library
// makes of a path.
func TestProbesInFourLanguages_P5(t *testing.T) {
	for _, lang := range []string{"go", "c", "rust", "assemblyscript"} {
		t.Run(lang, func(t *testing.T) {
			wasm := probe(t, lang)
			root, outside := project(t)
			listener := listen(t)
			before := treeOf(t, filepath.Dir(root))
			tries := attempts(outside, listener.Addr().String())
			p := Plugin{Name: "probe", Wasm: wasm, SHA256: hexSum(wasm)}
			for _, a := range tries {
				p.Args = append(p.Args, a.what)
			}
			a, err := newHost(t).Call(context.Background(), p, filesCall(root))
			if err != nil {
				t.Fatal(err)
			}
			var want strings.Builder
			for _, a := range tries {
				fmt.Fprintf(&want, "%s: %s\n", a.what, a.want)
			}
			if diff := cmp.Diff(strings.Split(want.String(), "\n"), strings.Split(string(a.Stdout), "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, a.Log)
			}
			if diff := cmp.Diff(before, treeOf(t, filepath.Dir(root))); diff != "" {
				t.Errorf("the tree changed (-before +after):\n%s", diff)
			}
			if err := listener.SetDeadline(time.Now()); err != nil {
				t.Fatal(err)
			}
			if _, err := listener.Accept(); err == nil {
				t.Error("the guest reached a socket")
			}
		})
	}
}

// probe is the module of a language: the committed one, or of Go, whose modules
// are large, one built now.
func probe(t *testing.T, lang string) []byte {
	file := filepath.Join("testdata", "probe", "probe-"+lang+".wasm")
	if lang == "go" {
		if testing.Short() {
			t.Skip("building a guest in Go takes seconds")
		}
		file = filepath.Join(t.TempDir(), "probe.wasm")
		build := exec.Command("go", "build", "-trimpath", "-o", file, "./testdata/probe/go")
		build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	wasm, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

func listen(t *testing.T) *net.TCPListener {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// The committed probes are those that SHA256SUMS lists.
func TestProbesAreThoseThatWereBuilt(t *testing.T) {
	sums, err := os.ReadFile("testdata/probe/SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, lang := range []string{"assemblyscript", "c", "rust"} {
		fmt.Fprintf(&want, "%x  probe-%s.wasm\n", sha256.Sum256(probe(t, lang)), lang)
	}
	if string(sums) != want.String() {
		t.Errorf("run build.sh; want\n%s", want.String())
	}
}
