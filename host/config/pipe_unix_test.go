//go:build unix

package config

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A pipe in the place of any file that is read is named and never waited for: nobody
// may come to write into it.
func TestPipesAreNotWaitedFor(t *testing.T) {
	files := map[string]string{
		"spec-kitty.toml":    "schema = 1\n[missions.dev]\nfile = \"missions/dev.toml\"\n[plugins.lint]\nwasm = \"lint.wasm\"\nsha256 = \"" + strings.Repeat("0", 64) + "\"\n",
		"missions/dev.toml":  "steps = [{ id = \"a\", prompt_template = \"prompt.md\", guards = [{ plugin = \"lint\" }] }]\n",
		"missions/prompt.md": "Do it.\n",
		"lint.wasm":          "\x00asm\x01\x00\x00\x00",
	}
	for pipe := range files {
		t.Run(pipe, func(t *testing.T) {
			root := t.TempDir()
			for name, content := range files {
				path := filepath.Join(root, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if name != pipe {
					if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
						t.Fatal(err)
					}
				} else if err := syscall.Mkfifo(path, 0o644); err != nil {
					t.Skip("no pipes here:", err)
				}
			}
			said := make(chan error, 1)
			go func() {
				_, _, err := Validate(root)
				said <- err
			}()
			select {
			case err := <-said:
				if err == nil || !strings.Contains(err.Error(), "is a named pipe, not a regular file") {
					t.Errorf("%v", err)
				}
			case <-time.After(10 * time.Second):
				t.Fatal("it waits for a writer")
			}
		})
	}
}
