package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
	"github.com/spec-kitty/step-runner/plugins/abi"
)

// maxRequestFile is one byte more than a request may have.
const maxRequestFile = 1<<20 + 1

type pluginRunOptions struct {
	verb, request string
	ask           runner.PluginAsk
	own           runner.FileOptions
}

func newPluginRun(a *app) *cobra.Command {
	o := pluginRunOptions{}
	cmd := &cobra.Command{
		Use:   "run PLUGIN",
		Short: "Call a plugin once and show all of it",
		Long: `Calls a plugin once, in a process of its own, and shows its answer, its log, how it
ended, what it saw of the files, and the time it took. A configured plugin has its
grants, and must have the pinned bytes; a file has no grants. With --mission the
request is the one that the mission's run would send now, to the plugin's bytes of
today. Nothing is committed. A call that ends without an answer has exit code 1.`,
		Example: `  spec-kitty plugin run PLUGIN --verb guard --request FILE
  spec-kitty plugin run PLUGIN --verb describe
  spec-kitty plugin run NAME --verb guard --mission M`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			target, err := only(cmd, args, aPlugin, namePlain)
			if err != nil {
				return err
			}
			return a.runPlugin(cmd, target, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.verb, "verb", "", "`VERB`: guard, execute or describe")
	f.StringVar(&o.request, "request", "", "the request, out of `FILE`; - is stdin")
	f.StringVar(&o.ask.Mission, "mission", "", "instead: what the run of mission `M` would ask now")
	f.StringVar(&o.ask.Package, "package", "", "with --mission: the work package `WP`, where several are handed out")
	fileFlags(cmd, &o.own)
	return cmd
}

func (a *app) runPlugin(cmd *cobra.Command, target string, o pluginRunOptions) error {
	call, err := a.pluginCall(cmd.Context(), target, o)
	if err != nil {
		return err
	}
	ran, err := a.kit().WithFile(o.own).Run(cmd.Context(), call)
	if err != nil {
		return err
	}
	a.code = exitOfCheck(ran.End == runner.EndAnswer, exitRefused)
	return a.print(ran, func() string { return ranText(ran) })
}

// pluginCall is the call that the flags ask for.
func (a *app) pluginCall(ctx context.Context, target string, o pluginRunOptions) (runner.PluginCall, error) {
	call := runner.PluginCall{Target: target, Verb: o.verb}
	switch {
	case o.verb == "":
		return call, usage("add --verb guard, execute or describe", "no verb is named")
	case o.request != "" && o.ask.Mission != "":
		return call, usage("leave one of them out", "--request and --mission both give the request")
	case o.ask.Package != "" && o.ask.Mission == "":
		return call, usage("add --mission M", "--package goes with --mission")
	case o.verb == abi.Describe && (o.request != "" || o.ask.Mission != ""):
		return call, usage("leave --request and --mission out", "describe gets no request")
	case o.ask.Mission != "":
		asked, err := a.ask(ctx, target, o)
		call.Asked = &asked
		return call, err
	case o.verb != abi.Describe && o.request == "":
		return call, usage("add --request FILE, - for stdin; `spec-kitty plugin request` prints one", "%s needs a request", o.verb)
	case o.verb == abi.Describe:
		return call, nil
	}
	data, err := a.readFile(ctx, o.request, maxRequestFile)
	if err != nil {
		return call, unread("name a file that can be read", "--request: ", err)
	}
	call.Request = data
	return call, nil
}

// ask is the question of a mission's run to the plugin.
func (a *app) ask(ctx context.Context, target string, o pluginRunOptions) (runner.PluginQuestion, error) {
	ask := o.ask
	switch o.verb {
	case abi.Guard:
		ask.Guard = target
	case abi.Execute:
		ask.Executor = true
	}
	project, err := a.open()
	if err != nil {
		return runner.PluginQuestion{}, err
	}
	defer project.Close()
	asked, err := project.PluginRequest(ctx, ask)
	if err == nil && asked.Plugin != target {
		err = usage("name "+asked.Plugin, "the current step's executor is plugin %s, not %s", asked.Plugin, target)
	}
	return asked, err
}

func ranText(r runner.PluginRun) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s: %s after %.1f ms\n", r.Plugin, r.Verb, r.End, r.ElapsedMS)
	if r.Failure != nil {
		fmt.Fprintf(&out, "  %s\n", r.Failure.Detail)
	}
	block := func(name, text string) {
		if text = strings.TrimRight(text, "\n"); text != "" {
			fmt.Fprintf(&out, "%s:\n  %s\n", name, strings.ReplaceAll(text, "\n", "\n  "))
		}
	}
	block("stdout", r.Stdout)
	block("log", r.Log)
	for i, f := range r.Facts {
		if i == 0 {
			out.WriteString("it saw:\n")
		}
		fmt.Fprintf(&out, "  %-6s %s\n", f.Kind, f.Path)
	}
	if !r.Complete {
		out.WriteString("  and more than can be watched for changes: let it read less\n")
	}
	return printable(out.String())
}
