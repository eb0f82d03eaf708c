package lanes_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/spec-kitty/step-runner/host/lanes"
)

func TestParse(t *testing.T) {
	plain := lanes.Package{ID: "WP01", Title: "Make: it", Body: "Do it.\n"}
	cases := map[string]struct {
		text string
		want lanes.Package
	}{
		"plain":            {"---\nwork_package_id: WP01\ntitle: \"Make: it\"\n---\nDo it.\n", plain},
		"CRLF and a mark":  {"\xef\xbb\xbf---\r\nwork_package_id: WP01\r\ntitle: \"Make: it\"\r\n---\r\nDo it.\r\n", plain},
		"comments":         {"--- \n# first\nwork_package_id: WP01 # id\ntitle: 'Make: it'\n---  \nDo it.\n", plain},
		"text as list":     {"---\nwork_package_id: WP01\ntitle: 'Make: it'\ndependencies: \"[]\"\nsubtasks: \" [] \"\n---\nDo it.\n", plain},
		"null lists":       {"---\nwork_package_id: WP01\ntitle: 'Make: it'\ndependencies:\nsubtasks: ~\n---\nDo it.\n", plain},
		"unknown keys":     {"---\nwork_package_id: WP01\ntitle: 'Make: it'\nlane: planned\nowned: {a: [1, {b: c}]}\n---\nDo it.\n", plain},
		"alias and anchor": {"---\nx: &t 'Make: it'\ny: &l []\nwork_package_id: WP01\ntitle: *t\ndependencies: *l\n---\nDo it.\n", plain},
		"no title, no body": {"---\nwork_package_id: WP01\n---", lanes.Package{
			ID: "WP01", Title: "WP01"}},
		"lists": {"---\nwork_package_id: WP03\ntitle: T\ndependencies: [WP01, WP02, WP01]\nsubtasks:\n- T001\n- id: T002\n  title: second\n---\n\n---\nrule\n", lanes.Package{
			ID: "WP03", Title: "T", Body: "\n---\nrule\n", DependsOn: []string{"WP01", "WP02"}, Subtasks: []string{"T001", "T002"}}},
		"block text": {"---\nwork_package_id: WP01\ntitle: >-\n  Make\n  it\n---\nŁucja 👋\n", lanes.Package{ID: "WP01", Title: "Make it", Body: "Łucja 👋\n"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := lanes.Parse("p.md", []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			c.want.Path = "p.md"
			ignore := cmpopts.IgnoreUnexported(lanes.Package{})
			if diff := cmp.Diff(c.want, got, ignore); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseNamesFileAndLine(t *testing.T) {
	cases := map[string]struct {
		text  string
		line  int
		words []string
	}{
		"empty":                 {"", 1, []string{"no front matter"}},
		"none":                  {"# Title\n", 1, []string{"no front matter"}},
		"not closed":            {"---\nwork_package_id: WP01\n", 1, []string{"no end"}},
		"not YAML":              {"---\nwork_package_id: WP01\ntitle: [a\n---\n", 3, []string{"not YAML"}},
		"a tab":                 {"---\nwork_package_id: WP01\nx:\n\t- a\n---\n", 4, []string{"not YAML"}},
		"a list":                {"---\n- a\n---\n", 2, []string{"no keys"}},
		"empty front":           {"---\n---\n", 2, []string{"no keys"}},
		"no id":                 {"---\ntitle: T\n---\n", 1, []string{"work_package_id"}},
		"id is a list":          {"---\ntitle: T\nwork_package_id: [WP01]\n---\n", 3, []string{"not text"}},
		"id is a path":          {"---\nwork_package_id: ../WP01\n---\n", 2, []string{"no id"}},
		"id twice":              {"---\nwork_package_id: WP01\ntitle: T\nwork_package_id: WP02\n---\n", 4, []string{"twice"}},
		"title is a list":       {"---\nwork_package_id: WP01\ntitle: [a]\n---\n", 3, []string{"title"}},
		"dependencies is prose": {"---\nwork_package_id: WP01\ndependencies: after WP02\n---\n", 3, []string{"not a list", "[WP01, WP02]"}},
		"dependency is a map":   {"---\nwork_package_id: WP01\ndependencies:\n- {a: b}\n---\n", 4, []string{"dependencies"}},
		"dependency is no id":   {"---\nwork_package_id: WP01\ndependencies: ['WP 02']\n---\n", 3, []string{"no id"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := lanes.Parse("p.md", []byte(c.text))
			wantFault(t, err, c.line, append(c.words, "p.md")...)
		})
	}
}

func TestParseListsAllFaults(t *testing.T) {
	_, err := lanes.Parse("p.md", []byte("---\nwork_package_id: [x]\ntitle: {a: b}\nsubtasks: 3\n---\n"))
	if n := len(faults(err)); n != 3 {
		t.Errorf("%d faults, want 3: %v", n, err)
	}
}

// FuzzParse: no text makes it panic, and what it accepts is usable.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "---\n", "---\n---\n", "---\nwork_package_id: WP01\n---\nbody",
		"\xef\xbb\xbf---\r\nwork_package_id: WP01\r\ndependencies: \"[]\"\r\n---\r\n",
		"---\na: &a [*a]\nwork_package_id: WP01\ndependencies: *a\n---\n",
		"---\nwork_package_id: !!binary aGk=\nsubtasks: [{id: [x]}]\n---\n",
		"---\n? [a]\n: b\nwork_package_id: WP01\n<<: {dependencies: [x]}\n---\n",
		"---\n&a *a : b\n---\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := lanes.Parse("p.md", []byte(text))
		if err != nil {
			if len(faults(err)) == 0 {
				t.Errorf("an error without file and line: %v", err)
			}
			return
		}
		if p.ID == "" || p.Title == "" || !strings.HasSuffix(strings.ReplaceAll(text, "\r\n", "\n"), p.Body) {
			t.Errorf("accepted: %+v", p)
		}
	})
}
