package config

import (
	"fmt"
	"strings"
	"testing"
)

// sixtyLines is a configuration of the size that the speed bars are measured
// on.
func sixtyLines() string {
	var out strings.Builder
	out.WriteString(everyKey)
	for i := 0; strings.Count(out.String(), "\n") < 60; i++ {
		fmt.Fprintf(&out, "\n[plugins.p%d]\nwasm = \"plugins/p%d.wasm\"\nsha256 = \"%064d\"\nread = [\"{mission}\"]\n", i, i, i)
	}
	return out.String()
}

// BenchmarkLoad is what each call of next pays: at most 0.35 ms.
func BenchmarkLoad(b *testing.B) {
	root := project(b, map[string]string{FileName: sixtyLines()})
	for b.Loop() {
		if _, err := Load(root); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLoadMission is paid at a run's start and when a definition changed.
func BenchmarkLoadMission(b *testing.B) {
	for _, n := range []int{60, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			root := project(b, map[string]string{FileName: everyKey, "missions/dev.toml": manySteps(n)})
			cfg, err := Load(root)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				def, frozen, err := LoadMission(cfg, "software-dev")
				if err != nil {
					b.Fatal(err)
				}
				if def.Len() != n || len(frozen.Index) == 0 {
					b.Fatal(def.Len())
				}
			}
		})
	}
}

func manySteps(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "[[steps]]\nid = \"s%d\"\ntitle = \"Step %d\"\nprompt = \"Do {{.Step.ID}}\"\nguards = [{ artifact = \"a%d.md\" }]\n", i, i, i)
		if i > 0 {
			fmt.Fprintf(&out, "depends_on = [\"s%d\"]\n", i-1)
		}
	}
	return out.String()
}
