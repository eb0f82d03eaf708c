package lanes

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzFields holds the walk over a JSON object against encoding/json.
func FuzzFields(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{ }`, `{"a":1}`, `{"a" : "x\"}" , "b":[1,{"c":"]"}] ,"d": null}`, `{"a":{"b":{}},"a":2}`,
		"{\"a\"\n:\ttrue,\r\n\"b\":-1.5e+10}", `{"":""}`, `{"a\u0062":"\ud83d\ude00"}`, `{"a":[]}`, `{"a":[[["}"]]]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = bytes.TrimSpace(data)
		var want map[string]json.RawMessage
		if !json.Valid(data) || len(data) == 0 || data[0] != '{' || json.Unmarshal(data, &want) != nil {
			return
		}
		got := map[string]json.RawMessage{}
		for key, value := range fields(data) {
			var name string
			if err := json.Unmarshal([]byte(`"`+key+`"`), &name); err != nil {
				t.Fatalf("key %q: %v", key, err)
			}
			got[name] = value
			checkText(t, value)
		}
		if len(got) != len(want) {
			t.Fatalf("%d keys, want %d", len(got), len(want))
		}
		for key, value := range want {
			if !bytes.Equal(got[key], value) {
				t.Errorf("%q: %s, want %s", key, got[key], value)
			}
		}
	})
}

func checkText(t *testing.T, value []byte) {
	t.Helper()
	var want string
	isText := value[0] == '"' && json.Unmarshal(value, &want) == nil
	if got, ok := textOf(value); ok != isText || got != want {
		t.Errorf("text of %s: %q, %t; want %q, %t", value, got, ok, want, isText)
	}
}
