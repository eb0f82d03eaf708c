package config

import (
	"errors"
	"strings"
	"testing"
)

// A type is added behind everything else, with the file's kind of line ends;
// where it stands already the bytes stay the same.
func TestWithMission(t *testing.T) {
	for before, want := range map[string]string{
		"schema = 1\n":                           "schema = 1\n\n[missions.t]\nfile = \"missions/t/mission.toml\"\n",
		"schema = 1":                             "schema = 1\n\n[missions.t]\nfile = \"missions/t/mission.toml\"\n",
		"\ufeffschema = 1\r\n":                   "\ufeffschema = 1\r\n\r\n[missions.t]\r\nfile = \"missions/t/mission.toml\"\r\n",
		"schema = 1\n[missions]\na.file = \"x\"": "schema = 1\n[missions]\na.file = \"x\"\n\n[missions.t]\nfile = \"missions/t/mission.toml\"\n",
		"schema = 1\nmissions.t.file = \"missions/t/mission.toml\" # mine\n": "schema = 1\nmissions.t.file = \"missions/t/mission.toml\" # mine\n",
	} {
		got, line, err := WithMission([]byte(before), "t", "missions/t/mission.toml")
		if err != nil || string(got) != want {
			t.Errorf("%q: %q, %v", before, got, err)
			continue
		}
		if lines := strings.Split(want, "\n"); line < 1 || !strings.Contains(lines[line-1], "missions.t") {
			t.Errorf("%q: line %d", before, line)
		}
		again, _, err := WithMission(got, "t", "missions/t/mission.toml")
		if err != nil || string(again) != want {
			t.Errorf("%q a second time: %q, %v", before, again, err)
		}
	}
}

// Field case 47: a type that is defined otherwise is never replaced.
func TestWithMissionReplacesNothing_Case47(t *testing.T) {
	for name, before := range map[string]string{
		"inline":      "schema = 1\n[missions.t]\nsteps = [{ id = \"a\" }]\n",
		"other file":  "schema = 1\n[missions.t]\nfile = \"t.toml\"\n",
		"letter case": "schema = 1\n[missions.T]\nfile = \"missions/t/mission.toml\"\n",
		"closed":      "schema = 1\nmissions = { a = { file = \"x\" } }\n",
		"in a table":  "schema = 1\n[missions.t.mission]\nkey = \"t\"\n",
		"broken":      "schema = \n",
	} {
		var invalid *InvalidError
		if got, _, err := WithMission([]byte(before), "t", "missions/t/mission.toml"); !errors.As(err, &invalid) || got != nil || invalid.Problems[0].Line < 1 {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
