package runner

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spec-kitty/step-runner/host/internal/readonly"
	"github.com/spec-kitty/step-runner/host/sandbox"
	"github.com/spec-kitty/step-runner/plugins/abi"
)

// The names of recorded calls.
const (
	requestSuffix = ".request.json"
	answerSuffix  = ".answer.json"
	filesSuffix   = ".files" // the call's own /project
	sharedFiles   = "files"  // else this one
)

// TestUpdated is the result of a recorded call whose answer was written.
const TestUpdated = "updated"

// PluginTests is what Test found.
type PluginTests struct {
	Schema int          `json:"schema"`
	Plugin string       `json:"plugin"`
	File   string       `json:"file"` // absolute
	SHA256 string       `json:"sha256"`
	Passed bool         `json:"passed"` // no test failed
	Tests  []PluginTest `json:"tests"`  // by name
}

// PluginTest is one recorded call.
type PluginTest struct {
	Name      string   `json:"name"`
	Result    string   `json:"result"` // pass, fail or updated
	End       string   `json:"end"`    // answer, or the sub-code
	Found     string   `json:"found"`  // why it failed, where there is no diff
	Diff      []string `json:"diff"`   // lines, - recorded, + answered
	Log       string   `json:"log"`    // stderr, as it came
	ElapsedMS float64  `json:"elapsed_ms"`
}

// PluginTestAsk asks for the recorded calls of a folder.
type PluginTestAsk struct {
	Dir    string
	Target string // "": the only .wasm file in Dir, or in the folder above it
	Update bool   // write the answers instead of comparing them
}

// Test runs the recorded calls of a folder: NAME.request.json is sent, and the
// answer compared, as JSON, with NAME.answer.json, in which {"failure": CODE} says
// that the call ends without one. NAME.files, or files, is what the plugin sees
// as /project, all of it.
func (k *Kit) Test(ctx context.Context, q PluginTestAsk) (PluginTests, error) {
	names, err := recorded(q.Dir)
	if err != nil {
		return PluginTests{}, err
	}
	if q.Target == "" {
		if q.Target, err = moduleNear(q.Dir); err != nil {
			return PluginTests{}, err
		}
	}
	m, err := k.find(q.Target)
	if err != nil {
		return PluginTests{}, err
	}
	if err := sandbox.Check(m.wasm); err != nil {
		return PluginTests{}, badPlugin(m.name, err)
	}
	if err := k.host.Prepare(ctx, m.sandboxed()); err != nil {
		return PluginTests{}, badPlugin(m.name, err)
	}
	out := PluginTests{Schema: Schema, Plugin: m.name, File: m.file, SHA256: m.sum(), Passed: true, Tests: []PluginTest{}}
	for _, name := range names {
		one, err := k.test(ctx, m, filepath.Join(q.Dir, name), q.Update)
		if err != nil {
			return out, classify(err)
		}
		out.Passed = out.Passed && one.Result != CheckFail
		out.Tests = append(out.Tests, one)
	}
	return out, nil
}

// recorded are the names of the calls in a folder; none are an error.
func recorded(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, placed(fail(CodeNotFound, "name a folder with NAME"+requestSuffix+" files", "the recorded calls cannot be read: %v", err), dir, 0)
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), requestSuffix); ok && name != "" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, placed(fail(CodeNotFound, "put requests there as NAME"+requestSuffix+"; `spec-kitty plugin request` prints one", "no recorded calls in %s", dir), dir, 0)
	}
	return names, nil
}

// moduleNear is the only module in a folder or the one above it.
func moduleNear(dir string) (string, error) {
	for _, in := range []string{dir, filepath.Join(dir, "..")} {
		found, err := filepath.Glob(filepath.Join(escapedGlob(in), "*.wasm"))
		switch {
		case err != nil:
			return "", classify(err)
		case len(found) == 1:
			return filepath.Abs(found[0])
		case len(found) > 1:
			e := fail(CodeAmbiguous, "name one with --plugin", "several modules lie in %s", in)
			e.Candidates = found
			return "", e
		}
	}
	return "", fail(CodeNotFound, "build the plugin there, or name it with --plugin", "no .wasm file in %s or the folder above", dir)
}

// escapedGlob is a folder's name in which no letter is a pattern.
func escapedGlob(dir string) string {
	if filepath.Separator == '\\' {
		return dir // there a backslash escapes nothing
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

func (k *Kit) test(ctx context.Context, m module, at string, update bool) (PluginTest, error) {
	one := PluginTest{Name: filepath.Base(at), Result: CheckPass, Diff: []string{}}
	request, err := recordedFile(at + requestSuffix)
	if tooLarge := new(readonly.TooLargeError); errors.As(err, &tooLarge) {
		one.Result, one.Found = CheckFail, "the request is longer than 1 MiB: shorten it"
		return one, nil
	}
	if err != nil {
		return one, err
	}
	verb := verbOf(request)
	if verb == abi.Describe {
		request = nil
	}
	grants, err := recordedFiles(at)
	if err != nil {
		return one, err
	}
	e, err := k.call(ctx, m, grants, verb, request)
	if err != nil {
		return one, err
	}
	ran := m.ran(verb, e)
	one.End, one.Log, one.ElapsedMS = ran.End, ran.Log, ran.ElapsedMS
	return one, one.compare(at, e, update)
}

// verbOf is the verb that a recorded request names; what names none is sent to
// guard, which must refuse it.
func verbOf(request []byte) string {
	var r struct {
		Verb string `json:"verb"`
	}
	if json.Unmarshal(request, &r) != nil || r.Verb == "" {
		return abi.Guard
	}
	return r.Verb
}

// recordedFile reads a file of recorded calls. They may be anybody's: a link that
// leads out of their folder is refused.
func recordedFile(name string) ([]byte, error) {
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	raw, _, err := readonly.File(root, filepath.Base(name), maxRequest)
	return raw, err
}

// recordedFiles is the call's /project. A link is no folder of it: through one the
// plugin would see whatever whoever made the calls chose.
func recordedFiles(at string) (sandbox.Call, error) {
	dir, err := filepath.Abs(filepath.Dir(at))
	if err != nil {
		return sandbox.Call{}, err
	}
	for _, name := range []string{filepath.Base(at) + filesSuffix, sharedFiles} {
		switch info, err := os.Lstat(filepath.Join(dir, name)); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return sandbox.Call{}, err
		case info.Mode()&fs.ModeSymlink != 0:
			return sandbox.Call{}, placed(fail(CodeDefinitionInvalid, "put the folder itself there", "the files of recorded calls are a link: %s", name), filepath.Join(dir, name), 0)
		case info.IsDir():
			return sandbox.Call{Mounts: []sandbox.Mount{{Guest: abi.ProjectDir, Host: dir, Below: name}}, Reads: []string{abi.ProjectDir}}, nil
		}
	}
	return sandbox.Call{}, nil
}
