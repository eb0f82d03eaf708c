package mission

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Canonical is the definition as one JSON document without spaces: the fields
// in the order of the types, the keys of tables sorted, everything that is
// empty left out. It is what a run freezes, and what Digest covers: comments
// and the order of keys in the TOML do not change it, prompt texts do.
//
// It panics for a With or Metadata that JSON has no form for; Check reports
// those.
func (d *Definition) Canonical() []byte {
	data, err := encodeJSON(d)
	if err != nil {
		panic(fmt.Sprintf("mission: definition %q: %v", d.Key, err))
	}
	return data
}

// Digest is the SHA-256 of Canonical, in lower-case hexadecimal.
func (d *Definition) Digest() string {
	sum := sha256.Sum256(d.Canonical())
	return hex.EncodeToString(sum[:])
}

// Decode reads what Canonical wrote. Unknown fields are an error: a newer
// version wrote them, and dropping one would change what the definition means.
// Numbers in With and Metadata come back as json.Number, so that no digit is
// lost and Canonical gives the same bytes.
func Decode(data []byte) (*Definition, error) {
	d := new(Definition)
	if err := decodeJSON(data, d); err != nil {
		return nil, fmt.Errorf("frozen definition: %w", err)
	}
	return d, nil
}

func encodeJSON(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

func decodeJSON(data []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value")
	}
	return nil
}
