package commit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
)

// A sealed file is one JSON object whose last field is a sum of the bytes
// before it, see docs/journal-format.md. It is published without a sync: what
// a power failure makes of it is noticed.
const (
	sumOpen  = `,"sum":"`
	sumClose = "\"}\n"
	sumLen   = 32
)

var (
	errCutShort = errors.New("it is cut short")
	errSum      = errors.New("its checksum is wrong")
)

// seal encodes an object with its sum at the end.
func seal(v any) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	body = body[:len(body)-1] // the sum goes before the last brace
	sum := sumOf(body)
	out := append(body, sumOpen...)
	out = append(out, sum...)
	return append(out, sumClose...), nil
}

// sealed says why the bytes are not what seal made.
func sealed(data []byte) error {
	body := len(data) - len(sumOpen) - sumLen - len(sumClose)
	if body < 0 {
		return errCutShort
	}
	sum, ok := bytes.CutPrefix(data[body:], []byte(sumOpen))
	if !ok || string(sum) != sumOf(data[:body])+sumClose {
		return errSum
	}
	return nil
}

func sumOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:sumLen/2])
}
