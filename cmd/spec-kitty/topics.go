package main

import (
	"github.com/spec-kitty/step-runner/docs"
	"github.com/spec-kitty/step-runner/plugins"
)

// helpTopic is a page of help that is no command.
type helpTopic struct {
	name, short string
	text        func() string
}

// manual are the pages of the documentation that people write files by, as they are.
func manual() []helpTopic {
	page := func(text string) func() string { return func() string { return text } }
	return []helpTopic{
		{"writing-missions", "every key of spec-kitty.toml and of a mission, with examples", page(docs.Missions)},
		{"writing-loops", "every key of a loop, and how one is run", page(docs.Loops)},
		{"writing-plugins", "what a plugin reads and answers, and how one is tried", page(plugins.Manual)},
	}
}

func topics() []helpTopic {
	page := func(text string) func() string { return func() string { return text + "\n" } }
	return append([]helpTopic{
		{"exit-codes", "what the exit code says", exitText},
		{"skip", "completing a step without its work", page(skipText)},
		{"abort", "ending a run before its end", page(abortText)},
		{"release", "taking work from a holder who does not come back", page(releaseText)},
		{"lanes", "a lane log or a package's file that is not what it was", page(lanesText)},
		{"packages", "work packages: where they are written and how", page(packageFileText)},
		{"rewind", "taking back what was completed", page(rewindText)},
		{"publish", "artifacts that are recorded and not in their places", page(publishText)},
		{"answer", "answering a question", page(answerHelp)},
		{"holder", "who may report what", page(holderHelp)},
		{"trust", "consenting to commands and write grants", page(trustText)},
		{"plugins", "what plugins may do, and what it means when one fails", page(pluginsText)},
		{"loops-recover", "loops whose ticks died, or whose state is damaged", page(loopsRecoverText)},
		{"tokens", "tokens, repeats and stale reports", page(tokensText)},
	}, manual()...)
}

func topic(name string) (helpTopic, bool) {
	for _, t := range topics() {
		if t.name == name {
			return t, true
		}
	}
	return helpTopic{}, false
}

const environmentText = `  SPEC_KITTY_MISSION   the mission, where no argument and no flag names one
  SPEC_KITTY_WORKER    the worker, where --agent is given without --worker
  SPEC_KITTY_TRUST     a digest that is consented to, as in CI; see help trust
  SPEC_KITTY_FALLBACK  a program that unknown commands are handed to
  NO_COLOR             no colour on a terminal
`

const skipText = `Skipping completes a step that nobody did: its guards are not evaluated, and what
was handed out of it is void. It is for steps that do not apply; for one that
failed there is ` + "`spec-kitty run retry`" + `.

    spec-kitty run skip MISSION STEP --reason "there is no user interface"

The reason and your name go into the run's history. A step that is complete
already stays as it is. With --agent A what comes next is handed to A. A blocking
audit is not skipped: who may approves or rejects it.`

const abortText = `Aborting ends a run before its end, for good. What was handed out is void, and
every later report is answered run_aborted. Files of the mission stay as they are.

    spec-kitty run abort MISSION --reason "replaced by mission 041"

In the place of the mission it takes the id of a run, also of one that a later run
of its mission hides: ` + "`spec-kitty doctor`" + ` names such a run as two_live_runs.

After that, ` + "`spec-kitty run start MISSION --again`" + ` starts a new run from the first step.`

const loopsRecoverText = `A tick that died needs nobody: the next one ends its claim, kills what it left
running, finishes a landing that was begun, and counts the run once. The same at once:

    spec-kitty loop recover NAME --dry-run
    spec-kitty loop recover NAME

orphan_alive: processes of a dead run may still be at work, and cannot be told from
others, or ran on another machine. They are not killed, and no run begins beside
them. Look for the process group that the refusal names and end it, or, if you know
that it is gone:

    spec-kitty loop recover NAME --assume-dead --reason "the machine was replaced"

branch_locked: a git that died left its lock file on the loop's branch, or one is at
work. On Linux a tick and recover remove it once no git is at work in the repository;
else the refusal names the call. A landing that cannot be finished is given up with
retire, then remove --force.

What is seen alive is not believed dead. The reason and your name go into the history.

Damaged state (exit code 5): nothing was overwritten. Put the loop's folder back from a
copy, or move it away and create the loop anew; its branch and the results of its
runs are git's, and stay. state.json alone may always be removed: the journal has all.
A state of a newer version needs that version.`

const releaseText = `Work stays with its holder until it is reported: a slow holder is not a dead one,
and nothing here judges by time. If you know that a holder does not come back,
release the work. It keeps its attempt and goes to the next that asks; the old
token is stale from then on.

    spec-kitty run release MISSION --reason "its machine is gone"
    spec-kitty run release MISSION --package WP02 --reason "its machine is gone"

A work package then stays in its lane, with nobody. To put it back to where it is
handed out from, release the package instead:

    spec-kitty wp release WP02 --mission MISSION --reason "its machine is gone"

That moves it from claimed and in_progress to planned, from in_review to
for_review, and from blocked to where it came from.

The reason and your name go into the run's history.`

const lanesText = `A run notices when the lanes or the files of its packages change behind its back. It
then hands out nothing that somebody else has or that was done already, says so in a
warning of every answer, and ` + "`spec-kitty doctor`" + ` finds it too.

lane_log_put_back    status.events.jsonl lost moves that this run made in it, as a
                     checkout of an older one does. Put the newer one back. If it is
                     lost, say of each package where it lies: release takes the log's
                     word, a forced move the run's:

    spec-kitty wp release WP02 --mission MISSION --reason "the log was put back"
    spec-kitty wp move WP02 --mission MISSION --to for_review --force --reason "it was handed in"

lane_log_gone        The run has its lanes in that file, and it is not there. Put it back
                     (` + "`git restore FILE`" + `, or a copy). No setting changes where a run that goes
                     on has its lanes. If the log is gone for good, end the run and start
                     anew; then move what was finished to where it lay:

    spec-kitty run abort MISSION --reason "its lane log is gone"
    spec-kitty run start MISSION --again

lane_log_appeared    The log came after the run began to keep its lanes in its journal.
                     To go by the log, end the run and start anew, as above. To go by
                     the run alone, set source = "journal" under [work_packages].

packages_unreadable  A line of the log, or a file in tasks/, is not as it must be, and is
                     named. Mend it, or put the file back. Until then nothing that needs
                     the packages is recorded.

package_file_gone    The run worked on a package that has no file in tasks/ any more. Put
                     the file back, or give the package up:

    spec-kitty wp move WP02 --mission MISSION --to canceled --force --reason "not wanted"`

const packageFileText = `A work package is a file of the mission's folder, tasks/WP01.md, tasks/WP02.md and so
on. Its front matter says what it is called and which packages come before it; the
rest is what its prompt shows:

    ---
    work_package_id: WP02
    title: Pay by link
    dependencies: [WP01]
    ---
    What is to be done, and how it is seen to be done.

Files may be added while a run goes on: the next call for work sees them. Where each
one lies, and who has it, is not in the file: ` + "`spec-kitty wp list`" + ` shows it,
` + "`spec-kitty help wp`" + ` has the commands.

A step over packages waits until there are some. One for which there need not be any
says so in its definition (allow_none = true); else ` + "`spec-kitty help skip`" + `.`

const rewindText = `A rewind takes back what was completed by mistake, also the last step of a run that
is done. It names a step, and goes to before its completion, or a revision of
` + "`spec-kitty run log`" + `:

    spec-kitty run rewind MISSION --to-step implement --reason "the wrong branch" --dry-run
    spec-kitty run rewind MISSION --to 12 --reason "the wrong branch"

It lists the completions and answers that it takes back; --dry-run only lists them.
What was handed out is void, and nothing is handed out. Questions that were open then
are asked again. Nothing is deleted: the history stays, files stay as they are, and
packages stay in their lanes, unless --lanes puts them back too. Lanes in
status.events.jsonl are never put back. An aborted run is over for good, and so is one
that another run followed.

A rewind gives nothing back: a revision that an earlier rewind took back is refused,
and what was taken back is reported, answered or skipped again. A person's answer to
mission_owner_id, which says who answers audits, is taken back by a person only:
--as human:NAME.

The reason and your name go into the run's history.`

const publishText = `An executor's artifacts are recorded with the report that they come with, and put
into their places right after. Where that was cut short, answers have the warning
not_published, and the next report finishes it before anything else. So does

    spec-kitty run publish MISSION

Nothing is overwritten that the record does not replace. If something else stands
in a place by then, every report is answered artifact_conflict, and names it. Then
either take a copy of what stands there, move it away and call run publish, or keep
it and give the artifacts up:

    spec-kitty run publish MISSION --discard --reason "theirs is newer"

Those that are in their places by then stay there. The reason and your name go into
the run's history; the artifacts can still be read there, with run log.

Nor is anything written before you consented to what the run froze, and then only
where it lets the step's executor write: a run that was imported or copied brings no
consent with it. Until then every report is answered guard_error, not_trusted. Look
at the artifacts before you consent: spec-kitty help trust.`

const answerHelp = `A step that asks is handed out once its questions are answered. The answer that
shows a question has its decision_id, its decision_token, its options and a prompt
file with the command lines.

    spec-kitty next --mission M --agent A --decision-id input:owner --answer "kim"
    spec-kitty next --mission M --agent A --decision-id input:owner --answer-file - < text

With --result success beside it, the step is handed out in the same call. Without
--decision-id the only open question is meant. The same answer to the same
--decision-id twice changes nothing; another one is decision_conflict, and the first
one stands, unless it is replaced before a step was completed with it:

    spec-kitty decision answer input:owner ann --mission M --as human:NAME --replace --reason TEXT

A question that has to wait is postponed; it keeps its step closed:

    spec-kitty decision postpone input:owner --mission M --reason TEXT

An audit (audit:ID) is answered with approve or reject by a person, who gives the
token of the question that was shown:

    spec-kitty next --mission M --as human:NAME --decision-id audit:release --decision-token X --answer approve

Where the run has an input mission_owner_id, only whom it names may answer audits: a
person, or an agent. So that question is answered by a person, or set at the start. A
person puts a wrong name right, also after steps were completed; other inputs that were
given at the start, and defaults, are replaced until a step is complete:

    spec-kitty decision answer input:mission_owner_id kim --mission M --as human:NAME --replace --reason TEXT`

const holderHelp = `A report completes only what its caller was handed.

With --token it is about that piece of work; whoever has the token may report with
it, and becomes the holder. Without, it is about the one piece of work that agent
and worker hold. Who holds nothing asks for work with --result success: that
completes nothing. Where the step is with somebody else, the answer is not_holder,
with who holds it and since when.

Several workers that share an agent's name tell themselves apart with --worker or
SPEC_KITTY_WORKER. A person is --as human:NAME.

If the holder does not come back: ` + "`spec-kitty help release`" + `.`

const trustText = `A project's commands are programs of this machine, and plugins with write grants
change its files. A pin in the repository proves that bytes are the same, not that
they are good; so neither is run or called before you, at this machine, consented.

    spec-kitty trust                 lists them, with the digest of all of it
    spec-kitty trust --digest D      consents to what has this digest
    spec-kitty trust --interactive   shows the list and asks on the terminal
    spec-kitty trust --mission M     the same for what M's run froze at its start
    spec-kitty trust --loop NAME     the same for what a loop runs; each has its own digest
    spec-kitty trust --list          what you consented to here; --revoke D takes it back

Without consent a report that would run a command, or call a plugin with a write
grant, as an executor or as a guard, is answered guard_error with the cause
not_trusted: nothing was run, and nothing that the plugin would say counts. Plugins
that only read need no consent; what they need run does. A query runs nothing.

The consent is to that digest and to this folder, and lies in your own configuration
folder, never in the project: a clone, a copied run, or another user's machine has
none. A changed command, pin or write grant, or other arguments, environment or read
grants of a plugin, are another digest and ask again; comments are not part of it, and neither is what a command's program or script does: look at
those as you look at any program before you run it. A run goes on with the commands
that it froze; if you consented to those, it needs no new consent.

In CI, put the digest that you reviewed into SPEC_KITTY_TRUST.`

const pluginsText = `Plugins are WebAssembly modules: guards that allow or refuse the end of a step, and
executors that do a part of its work. A plugin reads what spec-kitty.toml grants it,
returns data, runs in a process of its own and is ended at its time limit.

  guard_refused   the guard looked and said no: mend what it names, report again
  guard_error     the guard could not judge; that never counts as a yes
  plugin_failed   the plugin ended without an answer: exit, trap, or a limit

A run goes on with the plugins that it froze at its start, by their sha256, also when
they are mended and pinned again: run migrate has it take over what the project has now,
and lists with --dry-run what that changes. A query runs no plugin; it lists them in
not_evaluated.

To see what a plugin is asked, and what it answers:

    spec-kitty plugin request --mission M --guard NAME
    spec-kitty plugin run NAME --verb guard --mission M`

const tokensText = `Every handing-out of work has its own token, also of the same step again. Report with
it: then a report that comes late, or twice, cannot complete anything else.

  the same token and result once more   answered anew, replayed: true, nothing changes
  the same token, another result        already_reported
  a token that is not open any more     stale_token
  something it relied on has changed    cursor_moved or stale_plan

Without a token, a holder who repeats a lost report reports once more, on what it
holds by then. If an answer was lost, look with a query first:

    spec-kitty next --mission M --agent A --json`
