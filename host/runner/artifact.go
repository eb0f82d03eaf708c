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
	"github.com/spec-kitty/step-runner/host/guard"
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
//
// Whoever wrote the record may not have been us: a run is imported, its folder
// copied, its journal made by hand. So what was asked at the report is asked here
// again, of the set that the user of this machine consented to; else the record
// stays unpublished.
func (w *world) Publish(ctx context.Context, s cursor.State, rec commit.Record[cursor.Event]) ([]cursor.Event, error) {
	done := cursor.Published{Revision: rec.Revision}
	w.project.hook(PointPublishing)
	var files []artifact.File
	for _, e := range rec.Events {
		report, ok := e.Event.(cursor.Reported)
		if !ok || len(report.Artifacts) == 0 {
			continue
		}
		if err := w.mayPublish(s, report); err != nil {
			return nil, err
		}
		for _, a := range report.Artifacts {
			files = append(files, artifact.File{Path: a.Path, Data: []byte(a.Content), Replaces: a.Replaces})
			done.Paths = append(done.Paths, a.Path)
		}
	}
	err := w.exclusively(ctx, func() error { return w.project.place.Publish(files) })
	return []cursor.Event{done}, err
}

// mayPublish wants every artifact of a report to lie where the step's executor
// may write by the set that was consented to. The grants that the run froze for
// the plugin are not asked: they are as foreign as the record.
func (w *world) mayPublish(s cursor.State, report cursor.Reported) error {
	if path, why := w.project.faultIn(report.Artifacts); why != "" {
		return &artifact.InTheWayError{Path: path, At: path, Why: why}
	}
	r := w.run(s.Run)
	set, err := w.project.consented(r, s)
	if err != nil {
		return err
	}
	name, err := r.executorOf(s, report.Step)
	if err != nil {
		return err
	}
	grant := w.project.writeGrant(set.Plugins[name].Write, w.project.within(r.mission.Dir), w.project.within(w.project.worktree(r.mission, report.Package)))
	for _, a := range report.Artifacts {
		if why := grant.Allows(a.Path); why != "" {
			return &notTrustedError{Digest: s.Commands, Why: "the artifact " + a.Path + " of step " + report.Step + " " + why}
		}
	}
	return nil
}

// faultIn says which of a record's artifacts is never made, and why: one that is
// kept, or one that another is in the way of. "": none.
func (p *Project) faultIn(all []cursor.Artifact) (path, why string) {
	paths := make([]string, len(all))
	for i, a := range all {
		if why := p.kept(a.Path); why != "" {
			return a.Path, why
		}
		paths[i] = a.Path
	}
	if i, why := abi.PathsFault(paths); why != "" {
		return paths[i], why
	}
	return "", ""
}

// executorOf names the plugin that executes a step; "" where none does.
func (r *run) executorOf(s cursor.State, step string) (string, error) {
	def, err := r.view(s)
	if err != nil {
		return "", err
	}
	pos, ok, err := def.Position(step)
	if err != nil || !ok {
		return "", err
	}
	at, err := def.Step(pos)
	if err != nil || at.Executor == nil {
		return "", err
	}
	return at.Executor.Plugin, nil
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
	grant := r.p.writeGrant(frozen.Write, r.p.within(r.mission.Dir), r.p.within(r.p.worktree(r.mission, t.issue.Package)))
	paths := make([]string, len(files))
	for i, f := range files {
		var why string
		if paths[i], why = grant.Resolve(f.Path); why != "" {
			return nil, refusedArtifact(name, f.Path, why)
		}
	}
	// Placeholders may bring paths together that were apart in the answer.
	if i, why := abi.PathsFault(paths); why != "" {
		return nil, refusedArtifact(name, files[i].Path, why)
	}
	var staged []cursor.Artifact
	for i, f := range files {
		path := paths[i]
		stands, err := r.p.place.Look(path)
		if err != nil {
			return nil, &cursor.Refusal{Code: cursor.ArtifactConflict, Message: "what plugin " + name + " wants to write has no place: " + err.Error()}
		}
		staged = append(staged, cursor.NewArtifact(path, f.Content, stands))
	}
	return staged, nil
}

func refusedArtifact(name, path, why string) error {
	return pluginFailure(name, fmt.Errorf("%s: its artifact %s %s", sandbox.NotGranted, path, why))
}

// writeGrant is where a plugin's artifacts may go. Folders are relative to the
// project, "" where there is none in it.
func (p *Project) writeGrant(folders []string, mission, workspace string) artifact.Grant {
	return artifact.Grant{Folders: folders, Mission: mission, Workspace: workspace,
		State: p.within(p.Config.StateRoot()), Config: config.FileName}
}

// kept says why nothing may ever be written at a path. It is asked again before
// the writing: the configuration may have changed since.
func (p *Project) kept(path string) string {
	return p.writeGrant(nil, "", "").Kept(path)
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
// other content stands in the way or nobody consented to it, or an error.
func (r *reading) unpublished(err *commit.UnpublishedError) error {
	if damage := damageIn(err); damage != nil {
		return damage
	}
	if untrusted := new(notTrustedError); errors.As(err, &untrusted) {
		return unconsented(err.Revision, untrusted)
	}
	var conflict *artifact.ConflictError
	var inTheWay *artifact.InTheWayError
	if errors.As(err, &conflict) || errors.As(err, &inTheWay) {
		return &cursor.Refusal{Code: cursor.ArtifactConflict, Message: err.Error()}
	}
	e := fail(CodeNotRecorded, "mend what it names, then call again; `spec-kitty help publish`", "%s", err)
	e.Recover = r.publishLines()
	return e
}

// unconsented is the block of a run whose recorded artifacts nobody here
// consented to.
func unconsented(revision uint64, err *notTrustedError) *cursor.Refusal {
	failure := cursor.GuardFailure{
		Guard: fmt.Sprintf("artifacts of revision %d", revision), Verdict: string(guard.Failed), Expected: "consent to what they are written by",
		Examined: err.Error(), Fix: "a person consents: `" + trustTopic + "`, or gives them up: `spec-kitty help publish`",
	}
	return &cursor.Refusal{Code: GuardError, Message: failure.Sentence(), Guards: []cursor.GuardFailure{failure}}
}

// publishLines are the ways out of a publication that is left over.
func (r *reading) publishLines() []string {
	return []string{r.p.publishLine(r.mission.Slug), "spec-kitty help publish"}
}

// publishLine finishes a publication.
func (p *Project) publishLine(slug string) string {
	return "spec-kitty run publish" + p.rootFlag() + " " + quote(slug)
}

// warnUnpublished tells of artifacts that do not lie in their places yet.
func (r *reading) warnUnpublished() {
	left := r.state.Unpublished
	if left == nil || slices.ContainsFunc(r.warnings, isUnpublished) {
		return // the commit itself says why
	}
	r.warn(commit.WarnNotPublished, fmt.Sprintf("revision %d is recorded and its files are not all in their places: %s; the next report puts them there, or `%s`",
		left.Revision, strings.Join(left.Paths, ", "), r.p.publishLine(r.mission.Slug)))
}

func isUnpublished(w Warning) bool { return w.Code == commit.WarnNotPublished }
