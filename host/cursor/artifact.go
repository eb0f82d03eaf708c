package cursor

import (
	"crypto/sha256"
	"encoding/hex"
)

// Absent is the digest of a file that is not there.
const Absent = "absent"

// Artifact is a file that an executor left to be made. It travels in the record
// of its report and is made after that is durable.
type Artifact struct {
	Path     string `json:"path"`     // relative to the project, with slashes
	SHA256   string `json:"sha256"`   // of its content
	Replaces string `json:"replaces"` // SHA-256 of what stood there when the report was evaluated, or Absent
	Content  string `json:"content"`  // text
}

// NewArtifact is an artifact with the digest of its content.
func NewArtifact(path, content, replaces string) Artifact {
	sum := sha256.Sum256([]byte(content))
	return Artifact{Path: path, SHA256: hex.EncodeToString(sum[:]), Replaces: replaces, Content: content}
}

// FileFact names, among the facts' digests, what stands at an artifact's path.
func FileFact(path string) string { return "file " + path }

// overwrites refuses to put an artifact where something else stands than what
// it was made to replace. That it stands there already is as good.
func overwrites(all []Artifact, digests map[string]string) error {
	for _, a := range all {
		if now := digests[FileFact(a.Path)]; now != a.Replaces && now != a.SHA256 {
			return refuse(ArtifactConflict, "%s changed after the executor's answer: what stands there now would be overwritten; report again, and the executor sees it", a.Path)
		}
	}
	return nil
}

func paths(all []Artifact) []string {
	list := make([]string, len(all))
	for i, a := range all {
		list[i] = a.Path
	}
	return list
}
