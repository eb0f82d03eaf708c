// Package starter holds the plugins that authors begin with: small guards that
// build with the tools they name, pass the conformance checks, and bring recorded
// calls of their own. It promises files as text; it writes nothing. All functions
// may be called concurrently.
package starter

import (
	"embed"
	"io/fs"
	"slices"
	"strings"

	"github.com/spec-kitty/step-runner/plugins/engines"
	"github.com/spec-kitty/step-runner/plugins/sdk"
)

//go:embed assemblyscript c go javascript rust common
var templates embed.FS

// File is one file of a starter.
type File struct {
	Path string // relative, with slashes
	Data []byte
}

// Languages are the languages that there is a starter for.
func Languages() []string { return []string{"assemblyscript", "c", "go", "javascript", "rust"} }

// Build is how a starter is built: what must be installed, and the command that
// makes NAME.wasm in its folder; no command for a script, which runs as it is.
func Build(lang, name string) (tools, command string) {
	switch lang {
	case "go":
		return "Go 1.24 or newer", "GOOS=wasip1 GOARCH=wasm go build -trimpath -o " + name + ".wasm ."
	case "c":
		return "clang and lld with wasi-libc; on Debian: apt-get install clang lld wasi-libc libclang-rt-14-dev-wasm32", "sh build.sh"
	case "rust":
		return "Rust 1.63 or newer with its target for WASI: rustup target add wasm32-wasip1, or on Debian: apt-get install rustc libstd-rust-dev-wasm32 lld", "sh build.sh"
	case "assemblyscript":
		return "Node.js 20 or newer with npm", "npm install && npm run build"
	case "javascript":
		return "nothing", ""
	}
	return "", ""
}

// Script tells where a starter that needs no build has its engine and its script.
func Script(lang string) (engine, dir string) {
	if lang == "javascript" {
		return engines.QuickJSFile, "src"
	}
	return "", ""
}

// Files are the files of a starter for a plugin of this name, by path; none for a
// language that has no starter.
func Files(lang, name string) []File {
	if !slices.Contains(Languages(), lang) {
		return nil
	}
	named := strings.NewReplacer("PLUGIN-NAME", name, "PLUGIN-KEY", key(name), "PLUGIN-CRATE", strings.ReplaceAll(name, ".", "-")).Replace
	var files []File
	for _, from := range []string{lang, "common"} {
		// Nothing can fail: the tree is in memory.
		_ = fs.WalkDir(templates, from, func(at string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			data, err := templates.ReadFile(at)
			// .txt keeps tools from taking a file for one of this module.
			to := strings.TrimSuffix(strings.TrimPrefix(at, from+"/"), ".txt")
			files = append(files, File{Path: named(to), Data: []byte(named(string(data)))})
			return err
		})
	}
	if lang == "javascript" {
		for name, data := range engines.QuickJS() {
			files = append(files, File{Path: name, Data: data})
		}
	}
	for at, data := range sdk.Files(lang) {
		files = append(files, File{Path: sdkFolder(lang) + at, Data: data})
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files
}

// key is a name as a part of a TOML key: a dot would begin another table.
func key(name string) string {
	if strings.Contains(name, ".") {
		return `"` + name + `"`
	}
	return name
}

// sdkFolder is where a starter of the language has the files of its SDK.
func sdkFolder(lang string) string {
	if lang == "go" {
		return "" // a package of its own, in its folder
	}
	return "src/"
}
