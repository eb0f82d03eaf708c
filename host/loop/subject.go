package loop

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Subject is what a person is asked about. A decision holds for exactly this.
type Subject struct {
	Stage      Stage    `json:"stage"`
	Definition string   `json:"definition"`          // digest
	Base       string   `json:"base"`                // head of the loop's branch
	Result     string   `json:"result,omitempty"`    // to land: the commit that would become the head
	Tree       string   `json:"tree,omitempty"`      // its tree
	Verify     string   `json:"verify,omitempty"`    // digest of the verification's result
	Protected  []string `json:"protected,omitempty"` // protected files that the work changed, sorted
	Goal       bool     `json:"goal,omitempty"`      // the goal is met with it
}

// Digest is a SHA-256 over everything that was shown, 64 hexadecimal digits.
func (s Subject) Digest() string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic("loop: a subject does not encode: " + err.Error())
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// stale tells whether what was asked about is no longer so. Where that cannot
// be told for more than the definition, the request stands.
func (a Approval) stale(f Facts) (bool, string) {
	switch now := f.Subject; {
	case f.Definition != a.Subject.Definition:
		return true, "the definition was changed after the request"
	case now == nil || now.Digest() == a.Subject.Digest():
		return false, ""
	case now.Base != a.Subject.Base:
		return true, "the branch was moved after the request"
	case now.Result != a.Subject.Result || now.Tree != a.Subject.Tree:
		return true, "the run's commit is not the one that was shown"
	}
	return true, "the verification's result is not the one that was shown"
}
