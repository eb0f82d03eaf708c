package lanelog

import (
	"crypto/sha256"
	"encoding/json"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/spec-kitty/step-runner/host/lanes"
)

// eventID is the id of a move of ours: a ULID made from the run, the line about
// the package that it follows, and the move itself. So the same move made again
// after a crash, in this file or in another copy of it that git merges later, is
// the same event, and readers count it once. The time in it is that of the line
// that it follows.
func eventID(run string, before lanes.Position, after time.Time, m Move) (string, error) {
	raw, err := json.Marshal([]any{run, before.Latest, m})
	if err != nil {
		return "", err
	}
	if !before.Since.IsZero() {
		after = before.Since
	}
	sum := sha256.Sum256(raw)
	var id ulid.ULID
	if err := id.SetTime(ulid.Timestamp(after)); err != nil {
		return "", err
	}
	if err := id.SetEntropy(sum[:10]); err != nil {
		return "", err
	}
	return id.String(), nil
}
