package guard_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/guard"
	"github.com/spec-kitty/step-runner/host/mission"
)

func TestArtifactFile(t *testing.T) {
	dir := folder(t, map[string]string{
		"spec.md":    "\xef\xbb\xbf# Title\r\n\r\n## Success criteria\r\n\r\n- TBD\r\n",
		"empty.md":   "",
		"docs/a.md":  "text",
		"latin1.md":  "caf\xe9 TBD",
		"utf16.md":   "\xff\xfeT\x00B\x00D\x00",
		"zeros.md":   "T\x00B\x00D\x00",
		"folder/x":   "x",
		"blank.md":   " ",
		"exact.md":   "12345",
		"unicode.md": "Łucja 👋",
	})
	cases := map[string]struct {
		guard   mission.ArtifactGuard
		verdict guard.Verdict
		words   string
	}{
		"there":                     {mission.ArtifactGuard{Path: "spec.md"}, guard.Allow, "spec.md"},
		"in a folder":               {mission.ArtifactGuard{Path: "docs/a.md"}, guard.Allow, "docs/a.md, 4 bytes"},
		"not in its shortest form":  {mission.ArtifactGuard{Path: "./docs//a.md"}, guard.Allow, "docs/a.md, 4 bytes"},
		"missing":                   {mission.ArtifactGuard{Path: "plan.md"}, guard.Refuse, "no such file"},
		"missing folder":            {mission.ArtifactGuard{Path: "no/plan.md"}, guard.Refuse, "no such file"},
		"behind a file":             {mission.ArtifactGuard{Path: "spec.md/plan.md"}, guard.Refuse, "no such file"},
		"empty":                     {mission.ArtifactGuard{Path: "empty.md"}, guard.Refuse, "empty.md is empty"},
		"a folder":                  {mission.ArtifactGuard{Path: "folder"}, guard.Refuse, "a folder"},
		"large enough":              {mission.ArtifactGuard{Path: "exact.md", MinBytes: 5}, guard.Allow, "5 bytes"},
		"too small":                 {mission.ArtifactGuard{Path: "exact.md", MinBytes: 6}, guard.Refuse, "exact.md has 5 bytes"},
		"contains, CRLF and mark":   {mission.ArtifactGuard{Path: "spec.md", Contains: `(?m)^# Title$`}, guard.Allow, ""},
		"from the very beginning":   {mission.ArtifactGuard{Path: "spec.md", Contains: `\A# Title\n\n##`}, guard.Allow, ""},
		"contains not":              {mission.ArtifactGuard{Path: "spec.md", Contains: `(?m)^## Risks`}, guard.Refuse, "nothing that matches (?m)^## Risks"},
		"not_contains":              {mission.ArtifactGuard{Path: "spec.md", NotContains: "TBD"}, guard.Refuse, "spec.md:5 matches TBD"},
		"not_contains, not there":   {mission.ArtifactGuard{Path: "spec.md", NotContains: "FIXME"}, guard.Allow, ""},
		"both":                      {mission.ArtifactGuard{Path: "spec.md", Contains: "Title", NotContains: "FIXME", MinBytes: 10}, guard.Allow, ""},
		"two faults":                {mission.ArtifactGuard{Path: "spec.md", Contains: "Risks", NotContains: "TBD", MinBytes: 4096}, guard.Refuse, "spec.md:5 matches"},
		"unicode":                   {mission.ArtifactGuard{Path: "unicode.md", Contains: "👋$"}, guard.Allow, ""},
		"no UTF-8, not looked into": {mission.ArtifactGuard{Path: "latin1.md"}, guard.Allow, ""},
		"no UTF-8":                  {mission.ArtifactGuard{Path: "latin1.md", Contains: "caf"}, guard.Failed, "not UTF-8"},
		"UTF-16 hides nothing":      {mission.ArtifactGuard{Path: "utf16.md", NotContains: "TBD"}, guard.Failed, "not UTF-8"},
		"zero bytes hide nothing":   {mission.ArtifactGuard{Path: "zeros.md", NotContains: "TBD"}, guard.Failed, "not UTF-8"},
		"bad expression":            {mission.ArtifactGuard{Path: "spec.md", Contains: "("}, guard.Failed, "contains"},
		"leads out":                 {mission.ArtifactGuard{Path: "../spec.md"}, guard.Failed, ".."},
		"absolute":                  {mission.ArtifactGuard{Path: "/etc/passwd"}, guard.Failed, "absolute"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { want(t, artifact(dir, c.guard), c.verdict, c.words) })
	}
}

func TestArtifactPattern(t *testing.T) {
	dir := folder(t, map[string]string{
		"docs/a.md": "one", "docs/b.md": "two TBD", "docs/c.txt": "three", "docs/.hidden.md": "four",
		"docs/sub/d.md": "five", "docs/deep.md/x": "a folder named like a file",
		"parts/one/notes.md": "x", "parts/two/notes.md": "x", "parts/file": "no folder",
	})
	cases := map[string]struct {
		guard   mission.ArtifactGuard
		verdict guard.Verdict
		words   string
	}{
		"one is enough":     {mission.ArtifactGuard{Path: "docs/*.md"}, guard.Allow, "docs/a.md, 3 bytes; docs/b.md, 7 bytes"},
		"as many as wanted": {mission.ArtifactGuard{Path: "docs/*.md", MinCount: 2}, guard.Allow, ""},
		"too few":           {mission.ArtifactGuard{Path: "docs/*.md", MinCount: 3}, guard.Refuse, "2 files that fit"},
		"none":              {mission.ArtifactGuard{Path: "docs/*.rst"}, guard.Refuse, "0 files that fit"},
		"no such folder":    {mission.ArtifactGuard{Path: "no/*.md"}, guard.Refuse, "0 files that fit"},
		"all must be sound": {mission.ArtifactGuard{Path: "docs/*.md", NotContains: "TBD"}, guard.Refuse, "docs/b.md:1 matches TBD"},
		"folders between":   {mission.ArtifactGuard{Path: "parts/*/notes.md", MinCount: 2}, guard.Allow, "parts/one/notes.md"},
		"class":             {mission.ArtifactGuard{Path: "docs/[ab].md", MinCount: 2}, guard.Allow, ""},
		"hidden by name":    {mission.ArtifactGuard{Path: "docs/.*.md"}, guard.Allow, ".hidden.md"},
		"bad pattern":       {mission.ArtifactGuard{Path: "docs/[a.md"}, guard.Failed, "not well formed"},
		"two stars":         {mission.ArtifactGuard{Path: "docs/**/x.md"}, guard.Failed, "**"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { want(t, artifact(dir, c.guard), c.verdict, c.words) })
	}
}

func TestArtifactWithoutAFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "nowhere")
	want(t, artifact(dir, mission.ArtifactGuard{Path: "spec.md"}), guard.Refuse, "no such file")
	want(t, artifact(dir, mission.ArtifactGuard{Path: "*.md"}), guard.Refuse, "0 files")
	write(t, dir, "a file in its place")
	want(t, artifact(dir, mission.ArtifactGuard{Path: "spec.md"}), guard.Failed)
}

// Links out of the folder are refused, also behind a pattern; links inside it are
// files like others.
func TestArtifactLinks(t *testing.T) {
	outside := folder(t, map[string]string{"secret.md": "secret"})
	dir := folder(t, map[string]string{"docs/a.md": "text"})
	for name, target := range map[string]string{
		"out.md": filepath.Join(outside, "secret.md"), "linked": outside, "docs/out.md": filepath.Join(outside, "secret.md"),
		"inside.md": "docs/a.md", "dangling.md": "nowhere", "ring.md": "ring.md",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	want(t, artifact(dir, mission.ArtifactGuard{Path: "inside.md"}), guard.Allow)
	for _, name := range []string{"out.md", "linked/secret.md", "docs/*.md", "ring.md", "dangling.md"} {
		r := artifact(dir, mission.ArtifactGuard{Path: name, NotContains: "x"})
		want(t, r, guard.Refuse, "leads out")
		if strings.Contains(r.Sentence(), "secret ") {
			t.Errorf("%s was read", name)
		}
	}
	want(t, artifact(dir, mission.ArtifactGuard{Path: "linked/*.md"}), guard.Failed)
}

func TestArtifactTooLarge(t *testing.T) {
	dir := folder(t, map[string]string{"big.md": "x"})
	if err := os.Truncate(filepath.Join(dir, "big.md"), 16<<20); err != nil {
		t.Fatal(err)
	}
	want(t, artifact(dir, mission.ArtifactGuard{Path: "big.md"}), guard.Allow)
	if err := os.Truncate(filepath.Join(dir, "big.md"), 16<<20+1); err != nil {
		t.Fatal(err)
	}
	want(t, artifact(dir, mission.ArtifactGuard{Path: "big.md"}), guard.Failed, "more than 16777216 bytes")
}

// What is known to be wrong is a refusal, also where something else is unclear.
func TestARefusalComesBeforeWhatIsUnclear(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "\xff", "b.md": "TBD"})
	want(t, artifact(dir, mission.ArtifactGuard{Path: "*.md", NotContains: "TBD"}), guard.Refuse, "a.md is not UTF-8", "b.md:1 matches")
}

// Staged artifacts lie over what is on disk: the guard judges what a report would
// leave behind.
func TestArtifactStaged(t *testing.T) {
	dir := folder(t, map[string]string{"spec.md": "TBD", "docs/a.md": "x"})
	staged := guard.Folder{Dir: dir, Staged: map[string][]byte{"spec.md": []byte("done"), "docs/b.md": []byte("y"), "other/c.md": []byte("z")}}
	want(t, guard.Artifact(staged, mission.ArtifactGuard{Path: "spec.md", NotContains: "TBD"}), guard.Allow)
	r := guard.Artifact(staged, mission.ArtifactGuard{Path: "docs/*.md", MinCount: 2})
	want(t, r, guard.Allow, "docs/b.md")
	for _, fact := range r.Facts {
		if again, err := guard.Digest(dir, fact.Name); err != nil || again != fact.Digest {
			t.Errorf("fact %s: %q on disk, %v; %q was judged", fact.Name, again, err, fact.Digest)
		}
	}
	nowhere := guard.Folder{Staged: staged.Staged}
	want(t, guard.Artifact(nowhere, mission.ArtifactGuard{Path: "other/*.md"}), guard.Allow)
}

// A guard that can never be evaluated says so, with all that is wrong, and is no
// refusal.
func TestBadArtifactGuard(t *testing.T) {
	for _, g := range []mission.ArtifactGuard{
		{Path: "spec.md"}, {Path: "docs/*.md", MinCount: 3}, {Path: "a/b/c.md", Contains: "(?m)^x", NotContains: "y", MinBytes: 16 << 20},
	} {
		want(t, guard.Artifact(guard.Folder{}, g), guard.Refuse)
	}
	for words, g := range map[string]mission.ArtifactGuard{
		"empty":           {},
		"..":              {Path: "a/../../b"},
		"absolute":        {Path: "/a"},
		"folder itself":   {Path: "./."},
		"forward slashes": {Path: `a\b`},
		"zero byte":       {Path: "a\x00b"},
		"not well formed": {Path: "[a"},
		"**":              {Path: "a/**"},
		"contains":        {Path: "a", Contains: "("},
		"not_contains":    {Path: "a", NotContains: "*"},
		"min_bytes":       {Path: "a", MinBytes: 1 << 30},
		"min_count":       {Path: "a", MinCount: 2},
	} {
		want(t, guard.Artifact(guard.Folder{}, g), guard.Failed, words)
	}
	r := guard.Artifact(guard.Folder{}, mission.ArtifactGuard{Path: "..", Contains: "(", NotContains: "(", MinBytes: -1, MinCount: -1})
	if n := strings.Count(r.Examined, "; ") + 1; n != 5 {
		t.Errorf("%d faults, want 5: %s", n, r.Examined)
	}
}

// Of a pattern each file that fits is examined, and the message says so: one good
// file among them is not enough.
func TestExpectedOfAPattern(t *testing.T) {
	dir := folder(t, map[string]string{"d/a.md": "none", "d/b.md": "has x"})
	r := artifact(dir, mission.ArtifactGuard{Path: "d/*.md", Contains: "x", MinBytes: 2})
	want(t, r, guard.Refuse, "d/a.md has nothing that matches x")
	if r.Expected != "a file d/*.md, each of at least 2 bytes that contains x" {
		t.Errorf("expected is %q", r.Expected)
	}
}
