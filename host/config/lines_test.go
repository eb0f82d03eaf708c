package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLocate(t *testing.T) {
	got := locate(`# a comment with [brackets] and "quotes
top = 1
"quoted key" = 2
a.b.c = """
[not.a.table]
x = 1 \""" still inside """"
'lit' = '''
[nor.this]
''' # [no]
list = [ # comment ]
  "x]", 'y#',
  { k = [1, [2]], d.e = 1979-05-27T07:32:00Z }, # one
  {
    m = 3,
  },
]
[tab.le]
k = 1
[[arr]]
k = 1
[[arr.inner]]
k = "\"]"
[[arr.inner]]
[arr.inner.deep]
k = 1
[[arr]]
k = 2
[ "sp.ace" . x ]
k = 1
`)
	want := lines{
		"top": 2, `"quoted key"`: 3, "a.b.c": 4, "lit": 7, "list": 10, "list[0]": 11, "list[1]": 11, "list[2]": 12,
		"list[2].k": 12, "list[2].k[0]": 12, "list[2].k[1]": 12, "list[2].k[1][0]": 12, "list[2].d.e": 12, "list[3]": 13, "list[3].m": 14,
		"tab": 17, "tab.le": 17, "tab.le.k": 18, "arr[0]": 19, "arr[0].k": 20, "arr[0].inner[0]": 21, "arr[0].inner[0].k": 22,
		"arr[0].inner[1]": 23, "arr[0].inner[1].deep": 24, "arr[0].inner[1].deep.k": 25, "arr[1]": 26, "arr[1].k": 27,
		`"sp.ace"`: 28, `"sp.ace".x`: 28, `"sp.ace".x.k`: 29,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for path, line := range map[string]int{"arr[1].missing": 26, "arr[0].inner[0].x[3].y": 21, "nothing": 0, "": 0, "list[2].k[1][7]": 12} {
		if got.of(path) != line {
			t.Errorf("%s is on line %d, want %d", path, got.of(path), line)
		}
	}
}
