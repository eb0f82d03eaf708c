package schedule

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// CrontabKept: after install, reinstall and remove, also of several loops, a
// crontab is what it was, byte for byte; in between each foreign line is.
func TestCrontabKept(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		line := rapid.OneOf(
			rapid.SampledFrom([]string{"", "# DO NOT EDIT", "PATH=/bin", "* * * * * x \\% y", "\t0 0 * * *\tz ", "# BEGIN something", "# END", "# begin spec-kitty loop a"}),
			rapid.StringMatching(`[a-z #%*é]{0,20}`),
		)
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(rt, "end")
		crontab := strings.Join(rapid.SliceOf(line).Draw(rt, "lines"), end)
		if rapid.Bool().Draw(rt, "ended") && crontab != "" {
			crontab += end
		}
		foreign := strings.Split(strings.TrimSuffix(crontab, "\n"), "\n")
		if crontab == "" {
			foreign = nil
		}
		part := func(uid, line string) string { return block(uid, "deps", line, false) }
		at := crontab
		for _, p := range []string{part("U1", "1 * * * * a"), part("U2", "2 * * * * b"), part("U1", "3 * * * * c"), part("U1", "3 * * * * c")} {
			next, err := Insert(at, p)
			if err != nil {
				rt.Fatal(err)
			}
			lines := strings.Split(next, "\n")
			for i, f := range foreign {
				if lines[i] != f {
					rt.Fatalf("line %d was %q and is %q", i, f, lines[i])
				}
			}
			if uid, _, _, _ := parts(p); installed(rt, next, uid) != p {
				rt.Fatalf("%q is not what was put in: %q", installed(rt, next, uid), p)
			}
			at = next
		}
		if strings.Count(at, "1 * * * * a") != 0 || strings.Count(at, "BEGIN spec-kitty loop U1") != 1 {
			rt.Fatalf("installed twice:\n%s", at)
		}
		order := []string{"U1", "U2"}
		if rapid.Bool().Draw(rt, "other order") {
			order = []string{"U2", "U1"}
		}
		for _, uid := range append(order, "U3") {
			next, err := Remove(at, uid)
			if err != nil {
				rt.Fatal(err)
			}
			at = next
		}
		if at != crontab {
			rt.Fatalf("was %q and is %q", crontab, at)
		}
	})
}

func installed(t *rapid.T, crontab, uid string) string {
	part, err := Installed(crontab, uid)
	if err != nil {
		t.Fatal(err)
	}
	return part
}

// Where marks are damaged nothing is changed: what is whose cannot be told.
func TestDamagedMarks(t *testing.T) {
	begin, end := "# BEGIN spec-kitty loop ", "# END spec-kitty loop "
	for name, c := range map[string]struct {
		crontab string
		line    int
	}{
		"no end":         {"a\n" + begin + "U1 x\nb\n", 4},
		"no begin":       {"a\n" + end + "U1 x\n", 2},
		"no begin or id": {end + "\n", 1},
		"other's end":    {begin + "U1 x\n" + end + "U2 x\n", 2},
		"inside another": {begin + "U1 x\n" + begin + "U2 x\n" + end + "U2 x\n" + end + "U1 x\n", 2},
		"twice":          {begin + "U1 x\n" + end + "U1 x\n" + begin + "U1 x\n" + end + "U1 x\n", 3},
	} {
		for _, uid := range []string{"U1", "U9"} {
			_, inserted := Insert(c.crontab, block(uid, "x", "l", false))
			same, removed := Remove(c.crontab, uid)
			for _, err := range []error{inserted, removed} {
				if damage := (*MarksError)(nil); !errors.As(err, &damage) || damage.Line != c.line || !strings.Contains(err.Error(), "nothing was changed") {
					t.Errorf("%s: %v, want line %d", name, err, c.line)
				}
			}
			if same != c.crontab {
				t.Errorf("%s: changed to %q", name, same)
			}
		}
	}
	if _, err := Insert("", "no part"); err == nil {
		t.Error("what is no part was put in")
	}
}

// Lines that somebody added after the part keep their own end.
func TestRemoveBetween(t *testing.T) {
	at, err := Insert("a", block("U1", "x", "l", false))
	if err != nil {
		t.Fatal(err)
	}
	if at, err = Remove(at+"b\n", "U1"); err != nil || at != "a\nb\n" {
		t.Fatalf("%q, %v", at, err)
	}
}
