package runner

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
)

// putBack notes a run whose journal is an older one than it was: a prompt is
// written after the record that hands its work out, so a prompt whose token the
// journal does not have was written by a record that is gone. The journal is
// sound by itself, and so is the state beside it if both were put back.
func (e *examination) putBack(ctx context.Context, h RunHealth, store Store) error {
	m, ok := store.(commit.Mender)
	if h.Damaged || h.Newer || !ok {
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
