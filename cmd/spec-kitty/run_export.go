package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/archive"
	"github.com/spec-kitty/step-runner/host/runner"
)

func newRunExport(a *app) *cobra.Command {
	var mission, out string
	cmd := &cobra.Command{
		Use:   "export [MISSION]",
		Short: "Write a run into one file, to keep or to carry elsewhere",
		Long: `Writes the latest run of a mission, or the run of an id, into one tar archive: its
history, and the definition and plugins that it froze. What is not sound is not
exported. The same run at the same revision gives the same bytes.

The file holds the tokens of open work and what was answered. Prompts, which are
written anew, and the mission's own files are not in it. ` + "`spec-kitty run import`" + ` takes
it in. From then on there are two copies: go on with one of them only.`,
		Example: "  spec-kitty run export 034-pay-by-link --out pay.run.tar",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.mayExport(cmd, out); err != nil {
				return err
			}
			return a.onMission(cmd, args, mission, func(project *runner.Project, handle string) error {
				if err := mayExportTo(project, out); err != nil {
					return err
				}
				run, err := project.Pack(cmd.Context(), handle)
				if err != nil {
					return err
				}
				return a.export(run, out)
			})
		},
	}
	missionFlag(cmd, &mission)
	cmd.Flags().StringVar(&out, "out", "", "the `FILE` to write, which must not be there; - is stdout")
	return cmd
}

func (a *app) mayExport(cmd *cobra.Command, out string) error {
	if out == "" {
		return usage("add --out FILE", "no file is named to write the run into")
	}
	if out == "-" {
		if a.json {
			return usage("name a file, or leave --json out", "--out - and --json both write to stdout")
		}
		return nil
	}
	if _, err := os.Lstat(out); err == nil {
		return &runner.Error{Code: runner.CodeAlreadyExists, Message: out + " is there already; nothing was written",
			NextStep: "name another file, or move that one away", File: out}
	}
	return nil
}

func mayExportTo(project *runner.Project, out string) error {
	if out == "-" {
		return nil
	}
	return project.MayWrite(out)
}

func (a *app) export(run archive.Run, out string) error {
	var data bytes.Buffer
	if err := archive.Write(&data, run); err != nil {
		return err
	}
	if out == "-" {
		return noError(a.write(data.Bytes()))
	}
	if err := writeFile(out, data.Bytes()); err != nil {
		return &runner.Error{Code: runner.CodeNotRecorded, Message: "the archive was not written: " + err.Error(), NextStep: "look at the file's place and permissions, then call again", File: out, Err: err}
	}
	sum := sha256.Sum256(data.Bytes())
	doc := runner.Export{Schema: runner.Schema, RunID: run.ID, MissionSlug: run.Mission, MissionType: run.Type, Revision: run.Revision,
		Digest: run.Digest, Exported: out, Bytes: int64(data.Len()), SHA256: hex.EncodeToString(sum[:])}
	return a.print(doc, func() string {
		return printable(fmt.Sprintf("Run %s of mission %s, up to revision %d, is in %s (%d bytes).\n", doc.RunID, doc.MissionSlug, doc.Revision, out, doc.Bytes))
	})
}
