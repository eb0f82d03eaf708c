package runner

import (
	"path/filepath"
	"testing"

	"github.com/spec-kitty/step-runner/kernel/durable"
)

// P3: a migration failed when a frozen file had its name and the name was not
// durable, be it the first file or the last. Made again it finds the file, and a
// power failure after it takes nothing that its record names.
func TestMigrationMakesDurableWhatItFinds_P3(t *testing.T) {
	root, base := changed(t)
	request := MigrateRequest{Mission: "m", Actor: "kim"}
	for n := 0; ; n++ {
		mem, met := base.Crash(512, durable.Everything), 0
		faulty := &durable.Faulty{Disk: mem, Fail: func(_ int, op durable.Op) error {
			if op.Kind != "syncdir" || filepath.Base(op.Path) != "frozen" {
				return nil
			}
			if met++; met == n+1 {
				return durable.ErrInjected
			}
			return nil
		}}
		done, _, err := on(t, root, faulty).Migrate(t.Context(), request)
		if met <= n {
			if n < 2 || !done.Applied {
				t.Errorf("only %d files were frozen: %v", n, err)
			}
			return
		}
		if err == nil || done.Applied {
			t.Fatalf("name %d is not durable, and the migration applied", n)
		}
		if done, refused, err := on(t, root, mem).Migrate(t.Context(), request); err != nil || refused != nil || !done.Applied {
			t.Fatalf("name %d was not durable, made again: %v %v", n, refused, err)
		}
		wantSound(t, on(t, root, mem.Crash(512, durable.Nothing)))
	}
}
