// Package explorer proves the commit protocol on a small model: it walks
// through every state that two writers, a reader, kills, failed syncs and
// power failures can lead to, and finds no state in which a promise is broken;
// and for each rule of the protocol it finds such a state once the rule is
// taken out. It promises that a walk is exhaustive within its bounds (Bounds),
// always visits the same states, and that a trace is one of the shortest.
//
// # What is modelled
//
// The journal is a row of cells; a record takes two of them, so it can be half
// written. Its second half ends in the newline, so a stray first half spoils
// the line after it, as in the file. For each cell, and for the file's length,
// the model keeps what programs see and the set of values that may be on the
// disk: a write adds to the set, a sync that succeeds leaves only the present
// value, but only of what was written since the last sync, failed ones
// included. After a failed sync programs may see the new bytes or what is on
// the disk. A power failure takes one value out of each set, for each cell
// alone: that is "any subset of unsynced sectors". state.json is replaced at
// once and never synced: a power failure may leave each view since the last
// power failure, whole or torn, whatever became of the journal.
//
// A writer takes these steps, each of which may be its last (a kill releases
// the lock): see CommitSteps and RepairSteps. Its answer may also be "already
// so", which acknowledges what it has loaded. Syncs, appends and publications
// may fail. A reader takes the view, then cell by cell to the end of the file,
// and looks again before it reports damage. Three kinds of trouble come only
// where the bounds allow them: the lock file is replaced under its holder, a
// stranger writes without the lock, bytes rot that nobody wrote.
//
// # What must hold
//
// An acknowledged commit is in the journal, once, in every state and after
// every crash. No two records have one revision. A refused commit left no byte.
// Nobody calls a healthy run damaged, and a reader shows at least what was
// acknowledged when it began. Whenever no writer is at work, the next one
// commits without help. Where bytes rotted, nothing is cut off in silence.
//
// # What is left out
//
// The state itself, Decide and Evolve: a record stands for what it says. Facts,
// prompts. Starts, artifacts, packages and loops have models of their own, see below.
// Waiting for the lock, and time-outs.
// Reads under the lock are one step, since nobody else writes then. A sector is
// a cell, never half of one. Temporary names are unique, so a temporary file
// concerns nobody and its writing is one step with its renaming. The lock file
// is replaced only while no writer is between its comparison and its release,
// and a stranger writes only between a load and the check of the length: after
// that nothing can notice them (docs/crash-model.md, "What is not covered").
//
// # Artifacts
//
// ExploreFiles walks the publication of files that records carry. The journal is
// taken for what Explore proves of it: a record is there once it is synced, and at
// most the last one is not. Two reports ask their executors, take the lock, finish
// what is left over, compare, record, and make two files each; they are killed,
// the power fails and leaves each file as any of what was not synced, and somebody
// else writes to the files at any time but between the last look at a place and
// the rename, where nothing can notice it. What must hold: no file that a record
// says is made is lost, no record's files are left unmade when another one
// follows, nobody's file is overwritten that the executor was not asked on, no
// file is made of a report that is not recorded, and the next report comes
// through unless other content stands in its way. The two reports are of one run, or
// of one each of two missions whose executors write the same files: then nobody's
// files may shut out those of a record before.
//
//	model                       host
//	the executor answers        reading.stage in host/runner
//	load the other run, name    world.enroll in host/runner
//	finish: …                   run.publishLeft in host/commit
//	decide                      cursor's Report.Decide on world.standing
//	look, make a file, sync     Place.Publish in host/artifact
//	record that they are made   run.published
//	given up                    cursor's Discard
//
// # Starts
//
// ExploreStarts walks the start of a run and its index: calls that start a run of
// one mission, and calls that look for its run and commit on it, where the index
// names it at once, else after they made its name durable. They are killed, syncs
// of folders fail, the power fails and takes any names that are not durable, and
// somebody removes the index entry. What must hold: a mission has at most one run,
// none is there by halves, and nothing is lost with a run's name that somebody was
// told of, a start, a run that is there already, or a commit. A finished run that
// is followed by another one has a walk of its own.
//
//	model                       host/commit
//	call the roll               Files.mayStart
//	make, rename, sync          Files.build, Files.name
//	enter                       Files.enter
//	heal                        run.mendIndex, Files.syncNames, Files.rebuild
//
// # Succession
//
// ExploreSuccession walks what comes after a finished run of a mission: starts that
// follow it, and commits that end a run or open it again, of any run that is there.
// They are killed, their views are not published, the power fails and takes names,
// records and views that are not durable. What must hold: a mission has at most one
// live run, nothing is lost that somebody was told of, and where no run is live the
// next start begins one. How a run is found, and its name made durable before a
// commit, is taken from the walk of starts.
//
//	model                       host/commit
//	call the roll               Files.mayStart, run.over
//	settle                      run.settleEnd in Files.indexed
//	lock the succession, look   Files.following, run.over
//	mark, rename, sync          Files.markSuccessor, Files.name
//	it would open the run again errOpensAgain in run.Commit
//	another run followed        run.mayOpenAgain
//
// # Packages in a lane log
//
// ExploreLanes walks the work on one package whose lanes lie in a log that another
// tool keeps: two agents claim it and report it, each call moving it in the log
// and then recording that in the run; they are killed, the power fails, and the
// other tool claims it. What must hold: the log is never behind the run, no move
// is in it twice, the package is with one holder, nothing acknowledged is lost, and
// whom the log has as holder comes to a report. Releases and reviews are left out.
//
//	model                       host
//	lock, read the lanes        world.Around, world.Facts in host/runner
//	move, sync                  lanelog.Append
//	record, sync                run.record in host/commit
//
// # Loops
//
// ExploreLoops walks the ticks of one loop and its operators: two ticks at a time
// read, take over what a dead one left, claim, start their work held back, let it
// go, record what it left, ask a person where the definition wants that, and land
// it; operators pause, cancel, resume, approve and deny meanwhile. A tick is killed
// after each step and its work lives on, it is stopped for longer than its lease and
// wakes where it was, the power fails, somebody else moves the branch. What must
// hold: one tick at a time has the loop, one agent at a time is at work, no token is
// given twice, no run counted twice, a token is taken only from a tick that did not
// beat in time and work is killed only after that, no operator's decision is lost or
// passed over, a grant is used once and for what was shown, the branch is at no
// commit that the books do not know and nothing on it is dropped; and the next ticks
// come through, unless a person was told. Gates, verifiers, limits and schedules are
// left out: they end a run sooner, by the same kind of commit.
//
//	model                       host/tick
//	read, burn, kill, bury      opened.reap
//	claim                       opened.tick
//	start, work, let go         running.program, running.letGo
//	verify                      running.verifying
//	ask                         running.askLand
//	land, swap, finish          running.intend, worktree.Repo.Land, running.end
//	swap, finish landing        opened.finishLanding
//	beats, sees                 pulse.once
//
// TestTickStepsAreReal (host/tick) holds a real tick to TickSteps.
//
// # How steps map to host/commit
//
//	model                 host/commit
//	lock                  locks.Lock.Do
//	load                  run.readView, run.load
//	repair: compare       run.same in run.repair
//	cut, rewrite, sync    journal.Mend
//	repair: publish       run.publishView in run.repair
//	decide, compare       Decide and run.same in run.decide and run.record
//	check, append         journal.Append
//	cut back              journal.Append, which then gives a *CutError
//	sync                  durable.File.Sync in run.record: the commit point
//	publish               run.publishView
//	unlock                the end of locks.Lock.Do
//
// The model's reader is freer than Read: it may stop at the length that the
// file had when it opened it, as Read does, or go on to the end.
// TestCommitStepsAreReal holds the real commit's disk operations to CommitSteps
// and RepairSteps; TestRealStoreJudgesAlike lets the real store read, in real
// bytes, every disk that the model comes to.
package explorer
