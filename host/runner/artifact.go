package runner

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spec-kitty/step-runner/host/artifact"
	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/sandbox"
	"github.com/spec-kitty/step-runner/plugins/abi"
)

var _ commit.Publisher[cursor.State, cursor.Event] = (*world)(nil)

// Pending implements the commit core's Publisher.
func (w *world) Pending(s cursor.State) uint64 {
	if s.Unpublished == nil {
		return 0
	}
	return s.Unpublished.Revision
}

// Publish implements the commit core's Publisher: it puts the artifacts that a
// record carries into their places, and looks again at each place before.
func (w *world) Publish(_ context.Context, _ cursor.State, rec commit.Record[cursor.Event]) ([]cursor.Event, error) {
	done := cursor.Published{Revision: rec.Revision}
	w.project.hook(PointPublishing)
	var files []artifact.File
	for _, e := range rec.Events {
		report, ok := e.Event.(cursor.Reported)
		if !ok {
			continue
		}
		for _, a := range report.Artifacts {
			if why := w.project.kept(a.Path); why != "" {
				return nil, &artifact.InTheWayError{Path: a.Path, At: a.Path, Why: why}
			}
			files = append(files, artifact.File{Path: a.Path, Data: []byte(a.Content), Replaces: a.Replaces})
			done.Paths = append(done.Paths, a.Path)
		}
	}
	return []cursor.Event{done}, w.project.place.Publish(files)
}

// standing reads what stands now where a report's artifacts would be put.
func (w *world) standing(o *cursor.Outcome, found map[string]string) {
	if o == nil {
		return
	}
	for _, a := range o.Artifacts {
		digest, err := w.project.place.Look(a.Path)
		if err != nil {
			digest = "unreadable: " + err.Error()
		}
		found[cursor.FileFact(a.Path)] = digest
	}
}

// assumed are the digests that a report's plan goes by: nothing has changed.
func assumed(report cursor.Report) map[string]string {
	if report.Outcome == nil || len(report.Outcome.Artifacts) == 0 {
		return report.Base.Facts
	}
	all := map[string]string{}
	for name, digest := range report.Base.Facts {
		all[name] = digest
	}
	for _, a := range report.Outcome.Artifacts {
		all[cursor.FileFact(a.Path)] = a.Replaces
	}
	return all
}

// stage takes an executor's artifacts over: where each goes, and what it
// replaces.
func (r *reading) stage(t *step, name string, frozen frozenPlugin, files []abi.Artifact) ([]cursor.Artifact, error) {
	grant := r.p.writeGrant(frozen, r.p.within(r.mission.Dir), r.p.within(r.p.worktree(r.mission, t.issue.Package)))
	var staged []cursor.Artifact
	taken := map[string]bool{}
	for _, f := range files {
		path, why := grant.Resolve(f.Path)
		if why == "" && taken[strings.ToLower(path)] {
			why = "is there twice"
		}
		if why != "" {
			return nil, pluginFailure(name, fmt.Errorf("%s: its artifact %s %s", sandbox.NotGranted, f.Path, why))
		}
		taken[strings.ToLower(path)] = true
		stands, err := r.p.place.Look(path)
		if err != nil {
			return nil, &cursor.Refusal{Code: cursor.ArtifactConflict, Message: "the executor wants to write " + err.Error()}
		}
		staged = append(staged, cursor.NewArtifact(path, f.Content, stands))
	}
	return staged, nil
}

// writeGrant is where a plugin's artifacts may go. Folders are relative to the
// project, "" where there is none in it.
func (p *Project) writeGrant(frozen frozenPlugin, mission, workspace string) artifact.Grant {
	return artifact.Grant{Folders: frozen.Write, Mission: mission, Workspace: workspace,
		State: p.within(p.Config.StateRoot()), Config: config.FileName}
}

// kept says why nothing may ever be written at a path. It is asked again before
// the writing: the configuration may have changed since.
func (p *Project) kept(path string) string {
	return p.writeGrant(frozenPlugin{}, "", "").Kept(path)
}

// within is a folder of the project relative to its root, with slashes; "" for
// one outside of it.
func (p *Project) within(folder string) string {
	rel, err := filepath.Rel(p.Config.Root, folder)
	if folder == "" || err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// staged are the artifacts of a report by their paths in a folder.
func (p *Project) staged(o *cursor.Outcome, folder string) map[string][]byte {
	if o == nil || len(o.Artifacts) == 0 {
		return nil
	}
	in := p.within(folder)
	files := map[string][]byte{}
	for _, a := range o.Artifacts {
		if rest, ok := strings.CutPrefix(a.Path, in+"/"); ok && in != "." {
			files[rest] = []byte(a.Content)
		} else if in == "." {
			files[a.Path] = []byte(a.Content)
		}
	}
	return files
}

// overlaid lays a report's artifacts over the folders that a guard sees.
func (p *Project) overlaid(mounts []sandbox.Mount, o *cursor.Outcome) []sandbox.Mount {
	var all []sandbox.Mount
	for _, m := range mounts {
		m.Staged = p.staged(o, filepath.Join(m.Host, filepath.FromSlash(m.Below)))
		all = append(all, m)
	}
	return all
}

// finish finishes a publication that a dead writer left, before anything is
// evaluated: executor and guards are to see the files in their places.
func (r *reading) finish(ctx context.Context, c Caller) error {
	if r.state.Unpublished == nil {
		return nil
	}
	return r.commit(ctx, cursor.Publish{Who: c.String()})
}

// unpublished turns a publication that cannot be finished into a block, where
// other content stands in the way, or an error.
func (r *reading) unpublished(err *commit.UnpublishedError) error {
	var conflict *artifact.ConflictError
	var inTheWay *artifact.InTheWayError
	if errors.As(err, &conflict) || errors.As(err, &inTheWay) {
		return &cursor.Refusal{Code: cursor.ArtifactConflict, Message: err.Error()}
	}
	e := fail(CodeDiskFull, "mend what it names, then call again; `spec-kitty help publish`", "%s", err)
	e.Recover = r.publishLines()
	return e
}

// publishLines are the ways out of a publication that is left over.
func (r *reading) publishLines() []string {
	return []string{"spec-kitty run publish" + r.p.rootFlag() + " " + quote(r.mission.Slug), "spec-kitty help publish"}
}

// warnUnpublished tells of artifacts that do not lie in their places yet.
func (r *reading) warnUnpublished() {
	left := r.state.Unpublished
	if left == nil || slices.ContainsFunc(r.warnings, isUnpublished) {
		return // the commit itself says why
	}
	r.warn(commit.WarnNotPublished, fmt.Sprintf("revision %d is recorded and its files are not all in their places: %s; the next report puts them there, or `%s`",
		left.Revision, strings.Join(left.Paths, ", "), r.publishLines()[0]))
}

func isUnpublished(w Warning) bool { return w.Code == commit.WarnNotPublished }
