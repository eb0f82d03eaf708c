package journal_test

import (
	"crypto/sha256"
	"encoding/hex"
)

// sum is the digest as docs/journal-format.md says it, on its own.
func sum(body string) string {
	s := sha256.Sum256([]byte(body))
	return hex.EncodeToString(s[:])
}
