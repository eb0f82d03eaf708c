package mission

import (
	"bytes"
	"testing"
)

// FuzzDecode: a definition that was read from its frozen form comes back as it was
// written.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"key":"m","name":"M","version":"1","steps":[{"id":"a","with":{"n":12345678901234567890}}]}`))
	f.Add((&Definition{Key: "m", Name: "M", Steps: []Step{{ID: "a"}, {ID: "b", DependsOn: []string{"a"}}}}).Canonical())
	f.Add([]byte(`{"steps":[{"guards":[{"artifact":{}}]}]} {}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Decode(data)
		if err != nil {
			return
		}
		first := d.Canonical()
		again, err := Decode(first)
		if err != nil {
			t.Fatalf("%s is not read: %v", first, err)
		}
		if second := again.Canonical(); !bytes.Equal(first, second) {
			t.Fatalf("%s became %s", first, second)
		}
	})
}
