package runner

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// promptsUnusable is something in the place of the prompts' folder that is none.
const promptsUnusable = "prompts_unusable"

// beside looks at the files beside the journal. They are views: what cannot be read of
// them is no damage of the run, and reports go on.
func (e *examination) beside(ctx context.Context, h *RunHealth, store Store) error {
	m, ok := store.(commit.Mender)
	if !ok {
		return nil
	}
	path := filepath.Join(m.Written()[0], promptFolder)
	if info, err := os.Lstat(path); err == nil && !info.IsDir() && info.Mode()&fs.ModeSymlink == 0 {
		e.find(Finding{Level: LevelRepairable, Code: promptsUnusable, RunID: h.RunID, Fix: e.p.repairLine(h.RunID),
			Message: path + " is " + durable.What(info.Mode()) + ", not a folder: prompts cannot be written, and reports are recorded all the same"})
		return e.leftovers(h, m)
	}
	err := e.leftovers(h, m)
	if err == nil {
		err = e.putBack(ctx, *h, store, m)
	}
	if !fromSystem(err) {
		return err
	}
	e.find(Finding{Level: LevelWarning, Code: "views_unreadable", RunID: h.RunID, Message: err.Error(),
		Fix: "let this user read and write it, or, where it is the folder prompts, move it away: it has views alone, and `" + e.p.repairLine(h.RunID) + "` writes those that are wanted"})
	return nil
}

// putBack notes a run whose journal is an older one than it was: a prompt is
// written after the record that hands its work out, so a prompt whose token the
// journal does not have was written by a record that is gone. The journal is
// sound by itself, and so is the state beside it if both were put back.
func (e *examination) putBack(ctx context.Context, h RunHealth, store Store, m commit.Mender) error {
	if h.Damaged || h.Newer {
		return nil
	}
	prompts, err := m.Views(promptFolder)
	if err != nil || len(prompts) == 0 {
		return err
	}
	known, err := tokensOf(ctx, store)
	if err != nil {
		return err
	}
	for _, name := range prompts {
		token, isPrompt := strings.CutSuffix(name, ".md")
		if !isPrompt || known[token] {
			continue
		}
		e.find(Finding{Level: LevelWarning, Code: "put_back", RunID: h.RunID,
			Message: fmt.Sprintf("%s was written for work with token %s, which the journal does not have: an older copy of this run was put back", filepath.Join("runs", h.RunID, promptFolder, name), token),
			Fix:     "if the newer copy still exists, put all of its folder back; else go on: reports on what is gone are refused as stale_token"})
		return nil // one proves it
	}
	return nil
}

// tokensOf are all tokens that a history made.
func tokensOf(ctx context.Context, store Store) (map[string]bool, error) {
	token := regexp.MustCompile(`"token":"([^"]+)"`)
	known := map[string]bool{}
	err := store.Records(ctx, 0, func(rec commit.Record[cursor.Event]) error {
		for _, found := range token.FindAllSubmatch(rec.Line, -1) {
			known[string(found[1])] = true
		}
		return nil
	})
	return known, err
}
