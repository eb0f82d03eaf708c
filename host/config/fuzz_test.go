package config

import (
	"errors"
	"testing"
)

// FuzzLoad: whatever the bytes, reading them ends, and in values, in an
// *InvalidError whose problems have words, or not at all.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(everyKey))
	f.Add([]byte(devMission))
	f.Add([]byte(devConfig))
	f.Add([]byte("schema = 1\n[missions.x]\nsteps = [{id = 1, guards = [[]]}, 3]\n[[audits]]\n"))
	f.Add([]byte("a = {b = [{c.\"d e\" = '''x'''}]}\n[[a.b]]\n"))
	f.Add([]byte("\xef\xbb\xbf\r\n[x\r"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 64<<10 {
			return
		}
		cfg := &Config{Root: "/p", File: "/p/" + FileName}
		checkError(t, cfg.decode(data))
		if _, values, err := parse("m.toml", data); err == nil {
			r := &reading{file: "m.toml"}
			d := readDefinition(r.root(values), "m", false)
			checkDefinition(r, cfg, &d.def, "")
			if len(r.problems) == 0 {
				freeze(&d.def)
			}
		} else {
			checkError(t, err)
		}
		locate(string(data))
	})
}

func checkError(t *testing.T, err error) {
	t.Helper()
	var invalid *InvalidError
	switch {
	case err == nil:
	case !errors.As(err, &invalid) || len(invalid.Problems) == 0:
		t.Errorf("%v is no *InvalidError", err)
	default:
		for _, p := range invalid.Problems {
			if p.Message == "" || p.File == "" {
				t.Errorf("a problem without words: %+v", p)
			}
		}
	}
}
