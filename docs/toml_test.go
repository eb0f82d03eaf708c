package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/config"
)

// Every TOML block is a project, or a definition for one. A part of a project
// lacks the first line; sha256 = "…" stands for some digest; plugins and prompt
// files that a block names are there.
func TestTOMLBlocksLoad(t *testing.T) {
	seen := 0
	for _, page := range pages(t) {
		for _, b := range blocks(t, page) {
			if b.lang != "toml" || b.file != "" || b.marker == "refused" {
				continue
			}
			seen++
			root := t.TempDir()
			write(t, root, b.project())
			if err := loadAll(root); err != nil {
				t.Errorf("%s:%d: %v", b.page, b.line, err)
			}
		}
	}
	if seen < 8 {
		t.Errorf("%d blocks of TOML were seen", seen)
	}
}

// isDefinition tells a definition's file from a project's.
func (b block) isDefinition() bool {
	return regexp.MustCompile(`(?m)^(\[mission\]|\[\[steps\]\])`).MatchString(b.text)
}

// isLoop tells a loop's file.
func (b block) isLoop() bool { return regexp.MustCompile(`(?m)^\[work\]`).MatchString(b.text) }

func (b block) project() map[string]string {
	text := strings.ReplaceAll(b.text, `"…"`, `"`+zeros+`"`)
	files := map[string]string{}
	if b.isLoop() {
		files["l.toml"] = text
		files[config.FileName] = "schema = 1\n[loops.deps]\nfile = \"l.toml\"\n" + pluginsOf(text)
	} else if b.isDefinition() {
		name := "m"
		if key := regexp.MustCompile(`(?m)^\[mission\]\nkey = "([^"]+)"`).FindStringSubmatch(text); key != nil {
			name = key[1]
		}
		files["m.toml"] = text
		files[config.FileName] = fmt.Sprintf("schema = 1\n[missions.%s]\nfile = \"m.toml\"\n%s", name, pluginsOf(text)+commandsOf(text))
	} else {
		if !strings.HasPrefix(text, "schema") {
			text = "schema = 1\n" + text
		}
		files[config.FileName] = text
	}
	for _, named := range regexp.MustCompile(`(?:prompt_template|prompt_file) = "([^"]+)"`).FindAllStringSubmatch(text, -1) {
		files[named[1]] = "{{.Step.Title}}\n"
	}
	return files
}

// pluginsOf are the plugins that a definition names, configured.
func pluginsOf(definition string) string {
	var out strings.Builder
	done := map[string]bool{}
	for _, named := range regexp.MustCompile(`plugin = "([^"]+)"`).FindAllStringSubmatch(definition, -1) {
		if name := named[1]; !done[name] {
			done[name] = true
			fmt.Fprintf(&out, "[plugins.%s]\nwasm = \"p.wasm\"\nsha256 = %q\n", name, zeros)
		}
	}
	return out.String()
}

// commandsOf declares the commands that a definition names.
func commandsOf(definition string) string {
	var out strings.Builder
	done := map[string]bool{}
	for _, named := range regexp.MustCompile(`command = "([^"]+)"`).FindAllStringSubmatch(definition, -1) {
		if name := named[1]; !done[name] {
			done[name] = true
			fmt.Fprintf(&out, "[commands.%s]\nrun = [\"true\"]\n", name)
		}
	}
	return out.String()
}

func loadAll(root string) error {
	cfg, err := config.Load(root)
	if err != nil {
		return err
	}
	for _, name := range cfg.MissionTypes() {
		if _, _, err := config.LoadMission(cfg, name); err != nil {
			return err
		}
	}
	for _, name := range cfg.LoopNames() {
		if _, err := config.LoadLoop(cfg, name); err != nil {
			return err
		}
	}
	return nil
}

// The block of errors is what the block marked as refused is answered with.
func TestRefusedBlockSaysWhatIsShown(t *testing.T) {
	for _, page := range pages(t) {
		var refused, shown string
		for _, b := range blocks(t, page) {
			switch b.marker {
			case "refused":
				refused = b.text
			case "errors":
				shown = b.text
			}
		}
		if refused == "" && shown == "" {
			continue
		}
		root := t.TempDir()
		write(t, root, map[string]string{config.FileName: refused})
		_, _, err := config.Validate(root)
		if err == nil || err.Error() != strings.TrimSpace(shown) {
			t.Errorf("%s shows other errors than these:\n%v", page, err)
		}
	}
}

// project makes a folder of the blocks that name their files.
func namedFiles(t *testing.T, page string) string {
	t.Helper()
	files := map[string]string{}
	for _, b := range blocks(t, page) {
		if b.file != "" {
			files[b.file] = b.text
		}
	}
	root := t.TempDir()
	write(t, root, files)
	if _, err := os.Stat(filepath.Join(root, config.FileName)); err != nil {
		t.Fatalf("%s has no block that is %s", page, config.FileName)
	}
	return root
}
