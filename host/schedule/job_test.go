package schedule

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files anew")

// nasty is a job whose texts hold what each system takes for something else.
func nasty() Job {
	return Job{
		Loop: "deps", UID: "01UID", Program: `/opt/spec kitty/100%/bin "x" & $HOME/spec-kitty`,
		Args: []string{"loop", "tick", "deps", "--root", `/home/kim/mé'r <p>/a\`, "", "%h $USER `id`"},
		Dir:  "/home/kim/mé'r <p> 50%", Path: "/usr/bin:/home/kim/my bin:/x%y", Home: "/home/kim", User: "kim",
		Log: "/home/kim/lo g%.log", Rule: Rule{Cron: "5/20 2 1,15 * Mon-fri"}, Jitter: 2 * time.Minute, CatchUp: true, Timeout: 90 * time.Minute,
	}
}

func printed(t *testing.T, system System, j Job) Printed {
	t.Helper()
	p, err := Print(system, j)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPrintGolden(t *testing.T) {
	plain := Job{
		Loop: "deps", UID: "01UID", Program: "/usr/local/bin/spec-kitty", Args: []string{"loop", "tick", "deps"}, Dir: "/srv/app",
		Path: "/usr/local/bin:/usr/bin:/bin", Home: "/home/kim", User: "kim", Rule: Rule{Every: 30 * time.Minute}, Timeout: time.Hour,
	}
	for _, system := range Systems() {
		for name, j := range map[string]Job{"plain": plain, "nasty": nasty()} {
			var got strings.Builder
			p := printed(t, system, j)
			for _, u := range p.Units {
				got.WriteString("--- " + u.Name + "\n" + u.Text)
			}
			got.WriteString("--- notes\n" + strings.Join(p.Notes, "\n") + "\n")
			file := filepath.Join("testdata", string(system)+"-"+name+".golden")
			if *update {
				if err := os.WriteFile(file, []byte(got.String()), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			golden, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(golden), "\n"), strings.Split(got.String(), "\n")); diff != "" {
				t.Errorf("%s differs:\n%s", file, diff)
			}
		}
	}
}

// CalendarRefusals: "every 45m" has no calendar form: the schedulers that know
// calendars alone refuse it and name the nearest two; Windows repeats it.
func TestCalendarRefusals(t *testing.T) {
	j := nasty()
	j.Rule = Rule{Every: 45 * time.Minute}
	for _, system := range []System{Systemd, Cron, Launchd} {
		_, err := Print(system, j)
		var refused *CalendarError
		if !errors.As(err, &refused) || !slices.Equal(refused.Fits, []Rule{{Every: 30 * time.Minute}, {Every: time.Hour}}) {
			t.Errorf("%s: %v", system, err)
			continue
		}
		if !strings.Contains(err.Error(), "every 30m, every 1h") {
			t.Errorf("%s: %v", system, err)
		}
	}
	text := printed(t, Schtasks, j).Units[0].Text
	if !strings.Contains(text, "<Interval>PT45M</Interval>") || !strings.Contains(text, "<StartBoundary>1970-01-01T00:00:00Z<") {
		t.Error(text)
	}
	for name, c := range map[string]struct {
		system System
		rule   Rule
		why    string
	}{
		"many triggers":  {Schtasks, Rule{Cron: "*/5 9-17 * * 1-5"}, "at most 48"},
		"long interval":  {Schtasks, Rule{Every: 32 * 24 * time.Hour}, "31 days"},
		"both days":      {Schtasks, Rule{Cron: "0 0 */2 * 1"}, "no weekday that is also"},
		"many intervals": {Launchd, Rule{Cron: "1-59 * 1-20 * *"}, "more than 1000"},
	} {
		j.Rule = c.rule
		_, err := Print(c.system, j)
		if refused := (*CalendarError)(nil); !errors.As(err, &refused) || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What cannot be told is refused before anything is written.
func TestBadJobs(t *testing.T) {
	for name, spoil := range map[string]func(*Job){
		"newline": func(j *Job) { j.Dir = "/a\nb" }, "return": func(j *Job) { j.Args = []string{"a\rb"} }, "zero": func(j *Job) { j.Path = "a\x00" },
		"no UTF-8": func(j *Job) { j.Program = "/a\xff" }, "no uid": func(j *Job) { j.UID = "" }, "no limit": func(j *Job) { j.Timeout = 0 },
		"log": func(j *Job) { j.Log = `/a\` }, "program": func(j *Job) { j.Program = "/a$=b" }, "no rule": func(j *Job) { j.Rule = Rule{} },
	} {
		for _, system := range Systems() {
			j := nasty()
			if spoil(&j); name == "no rule" {
				j.Rule = Rule{}
			}
			if p, err := Print(system, j); err == nil {
				t.Errorf("%s, %s: %+v", name, system, p)
			}
		}
	}
	if _, err := Print("at", nasty()); err == nil || !strings.Contains(err.Error(), "systemd, cron, launchd and schtasks") {
		t.Errorf("%v", err)
	}
}

// The times in each system's words, for rules of all kinds.
func TestTimesInTheirWords(t *testing.T) {
	for _, c := range []struct {
		rule     Rule
		systemd  []string
		launchd  int // intervals
		triggers int
	}{
		{Rule{Every: time.Minute}, []string{"*-*-* *:*:00"}, 1, 1},
		{Rule{Every: 30 * time.Minute}, []string{"*-*-* *:00,30:00"}, 2, 1},
		{Rule{Every: 6 * time.Hour}, []string{"*-*-* 00,06,12,18:00:00"}, 4, 4},
		{Rule{Every: 24 * time.Hour}, []string{"*-*-* 00:00:00"}, 1, 1},
		{Rule{Cron: "0 2 * * 1-5"}, []string{"Mon,Tue,Wed,Thu,Fri *-*-* 02:00:00"}, 5, 1},
		{Rule{Cron: "0 2 1 * 0"}, []string{"*-*-01 02:00:00", "Sun *-*-* 02:00:00"}, 2, 2},
		{Rule{Cron: "0 2 */10 * 1"}, []string{"Mon *-*-01,11,21,31 02:00:00"}, 4, -1},
		{Rule{Cron: "15 3 * 2,3 *"}, []string{"*-02,03-* 03:15:00"}, 2, 1},
		{Rule{Cron: "15 3 * 2 7"}, []string{"Sun *-02-* 03:15:00"}, 1, 1},
	} {
		j := nasty()
		j.Rule = c.rule
		var got []string
		for line := range strings.SplitSeq(printed(t, Systemd, j).Units[1].Text, "\n") {
			if on, ok := strings.CutPrefix(line, "OnCalendar="); ok {
				got = append(got, on)
			}
		}
		if !slices.Equal(got, c.systemd) {
			t.Errorf("%v: systemd %q, want %q", c.rule, got, c.systemd)
		}
		plist := printed(t, Launchd, j).Units[0].Text
		_, intervals, _ := strings.Cut(plist, "StartCalendarInterval")
		intervals, _, _ = strings.Cut(intervals, "</array>")
		if n := strings.Count(intervals, "<dict>"); n != c.launchd {
			t.Errorf("%v: %d intervals, want %d", c.rule, n, c.launchd)
		}
		if c.triggers < 0 {
			continue
		}
		if n := strings.Count(printed(t, Schtasks, j).Units[0].Text, "</StartBoundary>"); n != c.triggers {
			t.Errorf("%v: %d triggers, want %d", c.rule, n, c.triggers)
		}
	}
}

// A cron line runs, in a real shell, exactly the program with its arguments, in
// its folder, with its PATH, whatever is in them.
func TestCronLineRuns(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell here")
	}
	dir := filepath.Join(t.TempDir(), "a 'b' $c \"d\" 50% <e> é")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "show 100%.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\npwd\nprintf '%s\\n' \"$PATH\" \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	j := nasty()
	j.Program, j.Dir, j.Path, j.Log = script, dir, "/usr/bin:/bin:/my 'bin'%", filepath.Join(dir, "log $x%.log")
	_, _, line, err := parts(printed(t, Cron, j).Units[0].Text)
	if err != nil {
		t.Fatal(err)
	}
	command := strings.ReplaceAll(strings.SplitN(line, " ", 6)[5], `\%`, "%") // as cron does
	if strings.Contains(strings.ReplaceAll(line, `\%`, ""), "%") {
		t.Fatalf("a percent sign that cron takes for the end: %s", line)
	}
	if out, err := exec.Command(sh, "-c", command).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got, err := os.ReadFile(j.Log)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join(append([]string{dir, j.Path}, j.Args...), "\n") + "\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Fatal(diff)
	}
}

// Every XML is well formed, and its texts are the job's.
func TestXMLTexts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringMatching(`[a-z <>&"'%\\$é-]{1,12}`)
		j := nasty()
		j.Program, j.Dir, j.Log = "/"+text.Draw(rt, "program"), "/"+text.Draw(rt, "dir"), "/"+text.Draw(rt, "log")+"x"
		j.Args = rapid.SliceOfN(text, 1, 4).Draw(rt, "args")
		for _, system := range []System{Launchd, Schtasks} {
			p, err := Print(system, j)
			if err != nil {
				rt.Fatal(err)
			}
			all := xmlTexts(rt, p.Units[0].Text)
			for _, want := range []string{j.Program, j.Dir} {
				if !slices.Contains(all, want) {
					rt.Fatalf("%s: %q is not in %q", system, want, all)
				}
			}
			for _, arg := range j.Args {
				if system == Launchd && !slices.Contains(all, arg) {
					rt.Fatalf("%q is not in %q", arg, all)
				}
			}
			if system == Schtasks && !slices.ContainsFunc(all, func(s string) bool { return slices.Equal(windowsArgs(s), j.Args) }) {
				rt.Fatalf("%q is not in %q", j.Args, all)
			}
		}
	})
}

func xmlTexts(t *rapid.T, doc string) []string {
	var all []string
	d := xml.NewDecoder(strings.NewReader(doc))
	last := ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
		switch token := token.(type) {
		case xml.StartElement:
			last = ""
		case xml.CharData:
			last += string(token)
		case xml.EndElement:
			all, last = append(all, last), ""
		}
	}
}

// windowsArgs takes a command line apart as CommandLineToArgvW does.
func windowsArgs(line string) []string {
	var all []string
	for rest := strings.TrimLeft(line, " "); rest != ""; rest = strings.TrimLeft(rest, " ") {
		var word strings.Builder
		quoted, i := false, 0
		for ; i < len(rest) && (quoted || rest[i] != ' '); i++ {
			slashes := len(rest[i:]) - len(strings.TrimLeft(rest[i:], `\`))
			switch {
			case slashes > 0 && i+slashes < len(rest) && rest[i+slashes] == '"':
				word.WriteString(strings.Repeat(`\`, slashes/2))
				i += slashes - 1
				if slashes%2 == 1 {
					word.WriteByte('"')
					i++
				}
			case rest[i] == '"':
				quoted = !quoted
			default:
				word.WriteByte(rest[i])
			}
		}
		all, rest = append(all, word.String()), rest[i:]
	}
	return all
}

// A word of a unit file comes back through systemd's rules: quotes and
// backslashes taken off, %% and $$ made single.
func TestUnitWords(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		j := nasty()
		j.Program = "/" + rapid.StringMatching(`[a-z "'%\\$é]{1,12}`).Draw(rt, "program")
		j.Args = []string{rapid.StringMatching(`[a-z "'%\\$é]{0,12}`).Draw(rt, "arg")}
		words := unitWords(rt, strings.TrimPrefix(execStart(j), "/usr/bin/env "))
		if !slices.Equal(words, []string{j.Program, j.Args[0]}) {
			rt.Fatalf("%q became %q", append([]string{j.Program}, j.Args...), words)
		}
	})
}

func unitWords(t *rapid.T, line string) []string {
	var all []string
	line = strings.NewReplacer("%%", "%", "$$", "$").Replace(line)
	for line != "" {
		if line[0] != '"' {
			t.Fatalf("not in quotes: %s", line)
		}
		var word strings.Builder
		i := 1
		for ; line[i] != '"'; i++ {
			if line[i] == '\\' {
				i++
			}
			word.WriteByte(line[i])
		}
		all = append(all, word.String())
		line = strings.TrimPrefix(line[i+1:], " ")
	}
	return all
}
