package lanes

import (
	"errors"
	"strings"
	"testing"
)

// FuzzMeta: whatever a meta.json holds, it is read, or refused as a file at fault.
func FuzzMeta(f *testing.F) {
	f.Add([]byte(`{"mission_id":"01j","mission_slug":"034-x","mission_type":"dev","topology":"flat"}`))
	f.Add([]byte("\ufeff" + `{"mission":"dev","slug":7,"more":[{}]}`))
	f.Add([]byte(`["mission_type"]`))
	f.Add([]byte("{\n\"mission_type\": \n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m := Mission{Slug: "034-x"}
		err := m.decode("meta.json", data)
		switch {
		case err != nil && !errors.As(err, new(*FileError)):
			t.Fatalf("%q: %v", data, err)
		case err == nil && (m.ID != strings.ToUpper(m.ID) || m.Alias == m.Slug):
			t.Fatalf("%q: %+v", data, m)
		}
	})
}
