package runner

import (
	"context"
	"errors"
	"path"
	"strings"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/sandbox"
	"github.com/spec-kitty/step-runner/plugins/abi"
)

// overwrites refuses artifacts in whose places something stands that nobody here
// knows: what an executor may replace is what it read in this call, so that it is a
// revision of that, or what this run wrote there, so that it is in the journal. All
// else is somebody's, and would be gone.
func (r *reading) overwrites(ctx context.Context, t *step, name string, staged []cursor.Artifact, seen *witness) error {
	tree := r.p.within(r.p.worktree(r.mission, t.issue.Package))
	var foreign []string
	for _, a := range staged {
		if a.Replaces == cursor.Absent || a.Replaces == a.SHA256 || seen.read(name, t.issue.Package, a, tree) {
			continue
		}
		own, err := r.wrote(ctx, a.Path, a.Replaces)
		if err != nil {
			return err
		}
		if !own {
			foreign = append(foreign, a.Path)
		}
	}
	if len(foreign) == 0 {
		return nil
	}
	return &cursor.Refusal{Code: cursor.ArtifactConflict, Message: "plugin " + name + " would overwrite " + strings.Join(foreign, ", ") +
		": what stands there was not written by this run, and the plugin did not read it in this call; move it away, or have the plugin read what it changes, then report again"}
}

// read tells whether the executor read what an artifact replaces. A file in a
// package's worktree, a folder of the project, has two names for a guest.
func (w *witness) read(plugin, pkg string, a cursor.Artifact, worktree string) bool {
	names := []string{path.Join(abi.ProjectDir, a.Path)}
	if rest, inside := strings.CutPrefix(a.Path, worktree+"/"); inside && worktree != "" {
		names = append(names, path.Join(abi.WorkspaceDir, rest))
	}
	for _, name := range names {
		fact := sandbox.Fact{Path: name, Kind: sandbox.FactFile, SHA256: a.Replaces}
		if _, ok := w.facts[pluginFactName(plugin, pkg, fact)]; ok {
			return true
		}
	}
	return false
}

// wrote tells whether the run recorded an artifact of this content for a path. It
// reads the whole journal, but decodes it only where the digest stands in it.
func (r *reading) wrote(ctx context.Context, file, digest string) (bool, error) {
	if mentioned, err := r.run.store.Mentions(ctx, digest); err != nil || !mentioned {
		return false, err
	}
	err := r.run.store.Records(ctx, 1, func(rec commit.Record[cursor.Event]) error {
		for _, e := range rec.Events {
			report, _ := e.Event.(cursor.Reported)
			for _, a := range report.Artifacts {
				if a.Path == file && a.SHA256 == digest {
					return errEnough
				}
			}
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return true, nil
	}
	return false, err
}
