package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

// trustOptions are what `trust` is called with.
type trustOptions struct {
	mission     string
	loop        string
	digest      string
	list        bool
	revoke      string
	interactive bool
}

func newTrust(a *app) *cobra.Command {
	var o trustOptions
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Consent to the project's commands and write grants",
		Long: `Lists what spec-kitty.toml lets run as programs of this machine, the plugins' pins
and what they may write, with the digest of all of it. No command is run, and
no plugin that may write is called, by any report before you consented to that digest;
see ` + "`spec-kitty help trust`" + `.

With --mission it is about what the mission's run froze when it began, with --loop
about what a loop runs: its programs, its scripts and what it asks.`,
		Example: `  spec-kitty trust [--mission M | --loop NAME]
  spec-kitty trust [--mission M | --loop NAME] --digest D
  spec-kitty trust [--mission M | --loop NAME] --interactive
  spec-kitty trust --list
  spec-kitty trust --revoke D`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(a, cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&o.mission, "mission", "", "the mission `M` whose run's frozen commands are meant")
	f.StringVar(&o.loop, "loop", "", "the loop `NAME` whose programs are meant")
	f.StringVar(&o.digest, "digest", "", "consent to what has this digest `D`, as the list shows it")
	f.BoolVar(&o.interactive, "interactive", false, "ask on the terminal")
	f.BoolVar(&o.list, "list", false, "list what you consented to in this project")
	f.StringVar(&o.revoke, "revoke", "", "take the consent to the digest `D` back")
	return cmd
}

func (o *trustOptions) run(a *app, cmd *cobra.Command) error {
	if err := o.check(cmd); err != nil {
		return err
	}
	if o.interactive && (a.json || !isTerminal(a.in)) {
		return usage("look at the list, then `spec-kitty trust --digest D`", "--interactive asks on a terminal, and there is none")
	}
	project, err := a.open()
	if err != nil {
		return err
	}
	defer project.Close()
	switch {
	case o.list:
		all, err := project.Consents()
		if err != nil {
			return err
		}
		return a.print(all, func() string { return printable(consentsText(all)) })
	case cmd.Flags().Changed("revoke"):
		done, err := project.RevokeConsent(o.revoke)
		if err != nil {
			return err
		}
		return a.print(done, func() string { return printable(revokedText(done)) })
	case cmd.Flags().Changed("digest"):
		return o.give(cmd.Context(), a, project, o.digest)
	}
	found, err := project.Consent(cmd.Context(), o.to())
	if err != nil {
		return err
	}
	if !o.interactive || found.Consented || !found.Needed {
		return a.print(found, func() string { return printable(consentText(found, o.command(a))) })
	}
	return o.ask(cmd.Context(), a, project, found)
}

// check refuses flags that do not go together.
func (o *trustOptions) check(cmd *cobra.Command) error {
	var given []string
	for _, name := range []string{"digest", "interactive", "list", "revoke"} {
		if cmd.Flags().Changed(name) {
			given = append(given, "--"+name)
		}
	}
	if len(given) > 1 {
		return usage("use one of them", "%s do not go together", strings.Join(given, " and "))
	}
	if o.mission != "" && o.loop != "" {
		return usage("use one of them", "--mission and --loop do not go together")
	}
	if o.to() != (runner.ConsentTo{}) && (o.list || cmd.Flags().Changed("revoke")) {
		return usage("leave --mission and --loop out: consents are to digests", "%s goes with neither --mission nor --loop", given[0])
	}
	return nil
}

func (o *trustOptions) to() runner.ConsentTo {
	return runner.ConsentTo{Mission: o.mission, Loop: o.loop}
}

func (o *trustOptions) give(ctx context.Context, a *app, project *runner.Project, digest string) error {
	done, err := project.GiveConsent(ctx, o.to(), digest)
	if err != nil {
		return err
	}
	return a.print(done, func() string { return printable(givenText(done, o.command(a))) })
}

// ask shows the list and takes a whole word for consent, so that a key pressed by
// mistake is none.
func (o *trustOptions) ask(ctx context.Context, a *app, project *runner.Project, found runner.Consent) error {
	fmt.Fprintf(a.err, "%s\nRun and write this on this machine? Type yes: ", printable(consentText(found, o.command(a))))
	word, err := line(ctx, a.in)
	if err != nil {
		return err
	}
	if strings.TrimSpace(word) != "yes" {
		return usage("type the whole word, or look at what asks first", "nothing was consented to")
	}
	return o.give(ctx, a, project, found.Digest)
}

// line reads a line; the wait for it ends with the context.
func line(ctx context.Context, in io.Reader) (string, error) {
	read := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(in).ReadString('\n')
		read <- text
	}()
	select {
	case text := <-read:
		return text, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// command is the call that shows the same list.
func (o *trustOptions) command(a *app) string {
	line := "spec-kitty trust"
	for _, flag := range []struct{ name, value string }{{"root", a.root}, {"mission", o.mission}, {"loop", o.loop}} {
		if flag.value != "" {
			line += " --" + flag.name + " " + runner.Quote(flag.value)
		}
	}
	return line
}

// consentText is the list; command is the call that shows it.
func consentText(c runner.Consent, command string) string {
	var out strings.Builder
	if !c.Needed && len(c.Apart) == 0 {
		return "There are no commands, no write grants and no loops: nothing here needs your consent.\n"
	}
	if !c.Needed {
		return "There are no commands and no write grants.\n" + apartText(c.Apart)
	}
	for _, command := range c.Commands {
		fmt.Fprintf(&out, "command %s\n  runs   %s\n  in     %s, at most %v\n", command.Name, argvText(command.Run), folderText(command.Cwd),
			time.Duration(command.TimeoutMS)*time.Millisecond)
		if len(command.PassEnv) > 0 {
			fmt.Fprintf(&out, "  gets   %s\n", strings.Join(command.PassEnv, ", "))
		}
	}
	for _, l := range c.Loops {
		fmt.Fprintf(&out, "loop %s\n  moves    branch %s\n  says     definition %s\n", l.Name, l.Branch, l.Definition)
		if l.Prompt != "" {
			fmt.Fprintf(&out, "  prompt   %s\n", l.Prompt)
		}
		for _, part := range slices.Sorted(maps.Keys(l.Programs)) {
			fmt.Fprintf(&out, "  %-8s %s\n", part, argvText(l.Programs[part]))
		}
		for _, path := range slices.Sorted(maps.Keys(l.Scripts)) {
			fmt.Fprintf(&out, "  script   %s %s\n", path, l.Scripts[path])
		}
		if len(l.PassEnv) > 0 {
			fmt.Fprintf(&out, "  gets     %s\n", strings.Join(l.PassEnv, ", "))
		}
	}
	for _, plugin := range c.Plugins {
		out.WriteString(consentPinText(plugin))
	}
	fmt.Fprintf(&out, "digest %s\n", c.Digest)
	if c.Consented {
		out.WriteString("You consented to it.\n")
	} else {
		fmt.Fprintf(&out, "You did not consent to it. If you do:\n  %s --digest %s\n", command, c.Digest)
	}
	return out.String() + apartText(c.Apart)
}

// apartText shows the loops, which are consented to one by one.
func apartText(loops []runner.LoopConsent) string {
	var out strings.Builder
	for _, l := range loops {
		said := "not consented to"
		switch {
		case l.Consented:
			said = "consented to"
		case l.Error != "":
			first, _, _ := strings.Cut(l.Error, "\n")
			said = "what it runs cannot be told: " + first
		}
		fmt.Fprintf(&out, "loop %s: %s; `spec-kitty trust --loop %s` shows what it runs\n", l.Loop, said, l.Loop)
	}
	return out.String()
}

// consentPinText shows one plugin with all that is consented to of it.
func consentPinText(p runner.ConsentPlugin) string {
	var out strings.Builder
	fmt.Fprintf(&out, "plugin %s\n  sha256 %s\n", p.Name, p.SHA256)
	if p.Dir != nil {
		fmt.Fprintf(&out, "  folder %s\n", *p.Dir)
	}
	if len(p.Args) > 0 {
		fmt.Fprintf(&out, "  args   %s\n", argvText(p.Args))
	}
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		fmt.Fprintf(&out, "  env    %s=%q\n", name, p.Env[name])
	}
	if len(p.Read) > 0 {
		fmt.Fprintf(&out, "  reads  %s\n", strings.Join(p.Read, ", "))
	}
	if len(p.Write) > 0 {
		fmt.Fprintf(&out, "  writes %s\n", strings.Join(p.Write, ", "))
	}
	return out.String()
}

func folderText(cwd string) string {
	if cwd == "workspace" {
		return "the package's worktree"
	}
	return "the project's root"
}

// argvText shows where each argument begins and ends.
func argvText(argv []string) string {
	words := slices.Clone(argv)
	for i, word := range words {
		if word == "" || strings.ContainsFunc(word, func(r rune) bool { return unicode.IsSpace(r) || r == '\'' || r == '"' }) {
			words[i] = fmt.Sprintf("%q", word)
		}
	}
	return strings.Join(words, " ")
}

func givenText(c runner.Consent, command string) string {
	if !c.Recorded {
		return consentText(c, command)
	}
	return fmt.Sprintf("Consented to %s\n", c.Digest)
}

func consentsText(all runner.Consents) string {
	if len(all.Records) == 0 {
		return "You consented to nothing in this project.\n"
	}
	var out strings.Builder
	for _, r := range all.Records {
		fmt.Fprintf(&out, "%s  %s", r.Digest, r.At)
		if r.Current {
			out.WriteString("  as the configuration stands")
		}
		out.WriteString("\n")
		for _, what := range []struct {
			name  string
			names []string
		}{{"commands", r.Commands}, {"writers", r.Writers}} {
			if len(what.names) > 0 {
				fmt.Fprintf(&out, "  %s %s\n", what.name, strings.Join(what.names, ", "))
			}
		}
	}
	return out.String()
}

func revokedText(r runner.Revocation) string {
	if !r.Revoked {
		return "You had not consented to " + r.Digest + "\n"
	}
	return "Taken back: " + r.Digest + "\n"
}
