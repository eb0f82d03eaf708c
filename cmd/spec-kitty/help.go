package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

// helpDocument is what help prints with --json.
type helpDocument struct {
	Schema int    `json:"schema"`
	Topic  string `json:"topic"`
	Help   string `json:"help"`
}

func newHelp(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND | TOPIC]",
		Short: "Explain a command or a topic",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if t, ok := topic(args[0]); ok {
					return a.printTopic(t.name, t.text())
				}
			}
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return noTopic(cmd.Root(), args)
			}
			return a.printHelp(found)
		},
	}
}

func noTopic(root *cobra.Command, args []string) error {
	name := strings.Join(args, " ")
	var known []string
	for _, c := range root.Commands() {
		known = append(known, c.Name())
	}
	for _, t := range topics() {
		if !slices.Contains(known, t.name) { // some are commands too
			known = append(known, t.name)
		}
	}
	return nearest(usage("`spec-kitty help` lists commands and topics", "there is no help on %q", name), name, known)
}

func (a *app) printHelp(cmd *cobra.Command) error {
	return a.printTopic(cmd.CommandPath(), commandHelp(cmd))
}

func (a *app) printTopic(name, text string) error {
	return a.print(helpDocument{Schema: runner.Schema, Topic: name, Help: text}, func() string { return text })
}

// helpFailed keeps an error of --help, which cobra gives no way to return.
func (a *app) helpFailed(err error) {
	if err != nil {
		a.code = a.fail(err)
	}
}

// commandHelp is a command's page. It is written here, not by a template, so
// that no call pays for one.
func commandHelp(cmd *cobra.Command) string {
	cmd.InitDefaultHelpFlag()
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n", strings.TrimRight(cmp.Or(cmd.Long, cmd.Short), "\n"))
	fmt.Fprintf(&out, "\n%s", synopsis(cmd))
	if cmd.HasSubCommands() {
		out.WriteString("\nCommands:\n")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() || c.Name() == "help" {
				fmt.Fprintf(&out, "  %-10s %s\n", c.Name(), c.Short)
			}
		}
	}
	if cmd.HasAvailableLocalFlags() {
		fmt.Fprintf(&out, "\nFlags:\n%s", cmd.LocalFlags().FlagUsages())
	}
	if cmd.HasAvailableInheritedFlags() {
		fmt.Fprintf(&out, "\nEverywhere:\n%s", cmd.InheritedFlags().FlagUsages())
	}
	if !cmd.HasParent() {
		out.WriteString("\nTopics (spec-kitty help TOPIC):\n")
		for _, t := range topics() {
			fmt.Fprintf(&out, "  %-17s %s\n", t.name, t.short)
		}
		out.WriteString("\nEnvironment:\n" + environmentText)
	}
	return out.String()
}
