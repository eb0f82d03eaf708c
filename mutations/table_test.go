package mutations

// The table. A part that others mask is judged by the code of the refusal; the
// pair of them by the harm.
var table = []mutation{
	{
		name: "compare of what was relied on", sc003: "i",
		edits: []edit{{"host/cursor/base.go", "case b.Cursor != nil && *b.Cursor != s.CursorStamp():", "case false:"}},
		red: []red{
			{"host/cursor", []string{"TestGroundChanged_US2_FR002"}},
			{"host/runner", []string{"TestNoReviewIsSkipped_SC002", "TestHistoryInProcess_SC001", "TestHistoryAcrossProcesses_SC001"}},
		},
	},
	{
		name: "engine-path refusal: a stale plan is made anew", sc003: "ii",
		edits: []edit{{
			"host/runner/next.go",
			"	if q.PlanOut == nil {\n		return r.take(ctx, q.Caller, t)\n	}\n",
			"	if q.PlanOut == nil {\n		a, err := r.take(ctx, q.Caller, t)\n		if err == nil && a.Kind == KindBlocked && !a.Recorded {\n			return r.report(ctx, q)\n		}\n		return a, err\n	}\n",
		}},
		red: []red{{"host/runner", []string{"TestStalePlanIsNotPlannedAgain_US2_FR002", "TestOverlapIsRefused_US1_FR001"}}},
	},
	{
		name: "the answer's lock", sc003: "iii",
		edits: []edit{{
			"host/commit/commit.go", "warnings, result = s.locked(ctx, s.lock,",
			"lock := s.lock\n		if t.Kind() == \"answer\" {\n			lock = locks.Local()(\"none\")\n		}\n		warnings, result = s.locked(ctx, lock,",
		}},
		red: []red{{"host/runner", []string{"TestAnswerWaitsForTheLock_US3_3_FR004"}}},
	},
	{
		name: "the answer's re-read", sc003: "iii",
		edits: []edit{
			{"host/commit/commit.go", "	mended, err := s.mendIndex(ctx)", "	if stale, err := s.readOnce(); err == nil && t.Kind() == \"answer\" {\n		ctx = context.WithValue(ctx, \"stale\", stale.state)\n	}\n	mended, err := s.mendIndex(ctx)"},
			{"host/commit/commit.go", "	return s.decide(ctx, held, succession, j, l, t, out)", "	if stale, ok := ctx.Value(\"stale\").(S); ok {\n		l.state = stale\n	}\n	return s.decide(ctx, held, succession, j, l, t, out)"},
		},
		red: []red{{"host/runner", []string{"TestAnswerWaitsForTheLock_US3_3_FR004"}}},
	},
	{
		name: "the lock", sc003: "iv",
		edits: []edit{
			{"kernel/locks/file.go", "h.f.TryLock()", "h.f.TryRLock()"},
			{"kernel/locks/file.go", "h.f.Lock()", "h.f.RLock()"},
		},
		red: []red{
			{"host/runner", []string{"TestCommitWaitsForTheLock_US3_1_FR003_FR004", "TestEightOfOneAgent_US3_2", "TestHistoryAcrossProcesses_SC001"}},
			{"kernel/locks", []string{"TestHeldByAnotherProcess"}},
			{"torture", []string{"TestTorture_P3_Case12_Case16"}},
			{"host/tick", []string{"TestLockOfAnotherProcess_R1", "TestSerializeProcesses_Row1_Row2_S1"}},
		},
	},
	{
		name:  "a runner's own git is on record before it changes a worktree",
		edits: []edit{{"host/tick/phases.go", "	repo.Started = func(", "	_ = func("}},
		red:   []red{{"host/tick", []string{"TestStoppedGit_Row23"}}},
	},
	{
		name: "a loop's claim is decided on the state as it was read without the lock",
		edits: []edit{{"host/tick/running.go", "	out, err := o.commit(ctx, loop.ClaimLoop{\n", "	seen := o.state\n	out, err := o.commit(ctx, staleClaim{seen, loop.ClaimLoop{\n"},
			{"host/tick/running.go", "ByHand: q.ByHand, Zone: q.Zone,\n	})\n", "ByHand: q.ByHand, Zone: q.Zone,\n	}})\n"},
			{"host/tick/running.go", "func claimed(", "type staleClaim struct {\n	seen loop.State\n	loop.ClaimLoop\n}\n\nfunc (t staleClaim) Decide(_ loop.State, f loop.Facts, now time.Time) ([]loop.Event, error) {\n	return t.ClaimLoop.Decide(t.seen, f, now)\n}\n\nfunc claimed("}},
		red: []red{{"host/tick", []string{"TestPauseBeforeTheClaim_Row4", "TestSerializeConcurrent_Row1_Row2_S1", "TestSerializeProcesses_Row1_Row2_S1"}}},
	},
	{
		name:  "a loop's token check",
		edits: []edit{{"host/loop/draft.go", "	case s.Claim.Token != t.Token:\n", "	case false:\n"}},
		red:   []red{{"host/loop", []string{"TestOvertaken_Row23_Row32"}}},
	},
	{
		name: "the unique temporary name", sc003: "v",
		edits: []edit{{"kernel/durable/temp.go", "uint32(os.Getpid()), rand.Uint32())", "uint32(os.Getpid()), rand.Uint32()*0)"}},
		red:   []red{{"kernel/durable", []string{"TestTwoWritersOneFolder"}}},
	},
	{
		name:  "token check: what is closed is taken for what is open",
		edits: []edit{{"host/cursor/report.go", "	issue, open := s.Issue(r.Base.Issue)\n", "	issue, open := s.Issue(r.Base.Issue)\n	if !open && s.Cursor.Issue != nil {\n		issue, open = *s.Cursor.Issue, true\n	}\n"}},
		red:   []red{{"host/runner", []string{"TestRepeatedReports"}}},
	},
	{
		name: "token check and compare: the old fault",
		edits: []edit{
			{"host/cursor/report.go", "	issue, open := s.Issue(r.Base.Issue)\n", "	issue, open := s.Issue(r.Base.Issue)\n	if !open && s.Cursor.Issue != nil {\n		issue, open = *s.Cursor.Issue, true\n	}\n"},
			{"host/cursor/base.go", "case b.Cursor != nil && *b.Cursor != s.CursorStamp():", "case false:"},
		},
		red: []red{
			{"host/runner", []string{"TestOverlapIsRefused_US1_FR001", "TestEightOfOneAgent_US3_2"}},
			{"host/cursor", []string{"TestModel_SC001_SC002"}},
		},
	},
	{
		name:  "re-read of facts under the lock",
		edits: []edit{{"host/runner/world.go", "f.Digests = w.digests(r, s, f, report.Base.Facts)", "f.Digests = report.Base.Facts"}},
		red:   []red{{"host/runner", []string{"TestFactsAreReadAgain_FR001", "TestPackageGuard"}}},
	},
	{
		name:  "the second evaluation of a saved plan",
		edits: []edit{{"host/runner/plan.go", "	if err := r.evaluate(ctx, t); err != nil {\n		return err\n	}\n	sameGround", "	t.report.Outcome = saved\n	sameGround"}},
		red:   []red{{"host/runner", []string{"TestApplyEvaluatesAgain"}}},
	},
	{
		name:  "a plan is replayed only as itself",
		edits: []edit{{"host/cursor/report.go", "return last.Plan == r.Plan, nil", "return true, nil"}},
		red:   []red{{"host/runner", []string{"TestSecondPlanIsStale_FR001"}}},
	},
	{
		name:  "the journal's sync",
		edits: []edit{{"host/commit/append.go", "if err := j.Sync(); err != nil {", "if err := error(nil); err != nil {"}},
		red:   []red{{"host/commit", []string{"TestSweepCrashes", "TestOneLockOneSync"}}},
	},
	{
		name:  "repair first",
		edits: []edit{{"host/commit/commit.go", "if !l.clean {", "if false {"}},
		red:   []red{{"host/commit", []string{"TestSweepCrashes"}}},
	},
	{
		name:  "writing the last record again",
		edits: []edit{{"kernel/journal/write.go", "if _, err := f.WriteAt(line, last.Offset); err != nil {", "if err := error(nil); err != nil && line != nil {"}},
		red:   []red{{"kernel/journal", []string{"TestMendAfterFailedSync"}}},
	},
	{
		name:  "the tail rule: what an intact view vouches for is no tail",
		edits: []edit{{"kernel/journal/reader.go", "if offset < r.floor {", "if false {"}},
		red:   []red{{"kernel/journal", []string{"TestEnds"}}},
	},
	{
		name:  "the tail rule: a good line behind a bad one is damage",
		edits: []edit{{"kernel/journal/reader.go", "case err == nil && (Good(line) || holdsGood(line)):", "case false && (Good(line) || holdsGood(line)):"}},
		red:   []red{{"kernel/journal", []string{"TestEnds"}}, {"host/commit", []string{"TestDamage"}}},
	},
	{
		name:  "the second read before damage is told",
		edits: []edit{{"host/commit/read.go", "if !isDamage(err) || err.Error() == last {", "if true || err.Error() == last {"}},
		red:   []red{{"host/commit", []string{"TestSecondReadBeforeDamage"}}},
	},
	{
		name:  "the compare of lock and path",
		edits: []edit{{"host/commit/append.go", "if err := held.Same(); err != nil {", "if err := error(nil); err != nil {"}},
		red:   []red{{"host/commit", []string{"TestFolderReplacedUnderTheLock"}}},
	},
	{
		name:  "the offset check",
		edits: []edit{{"kernel/journal/write.go", "	case have != want:\n", "	case false:\n"}},
		red:   []red{{"kernel/journal", []string{"TestAppend"}}, {"host/commit", []string{"TestWriterWithoutTheLock"}}},
	},
	{
		name:    "the mount root: what is not granted",
		edits:   []edit{{"host/sandbox/view.go", "		if within(name, g) {\n			return !v.isHidden(name)", "		if true || within(name, g) {\n			return true"}},
		inChild: true,
		red:     []red{{"host/sandbox", []string{"TestGuestSeesOnlyItsGrants"}}},
	},
	{
		name:  "the child's deadline",
		edits: []edit{{"host/sandbox/talk.go", "				stop(TimeLimit)\n			}\n		case why", "			}\n		case why"}},
		red:   []red{{"host/sandbox", []string{"TestHangingGuestIsKilled"}}},
	},
	{
		name:  "the hash of a plugin's bytes",
		edits: []edit{{"host/runner/start.go", "if sum := hexSum(wasm); sum != strings.ToLower(c.SHA256) {", "if sum := hexSum(wasm); sum == strings.ToUpper(c.SHA256) {"}},
		red:   []red{{"host/runner", []string{"TestWrongPinStartsNothing"}}},
	},
	{
		name:  "the prompt is rendered before the commit",
		edits: []edit{{"host/runner/next.go", "	err = r.renderNext(plan, c.Holder())\n", ""}},
		red:   []red{{"host/runner", []string{"TestPromptThatCannotBeRendered"}}},
	},
	{
		name: "a package goes to one: neither what is handed out nor who holds it counts",
		edits: []edit{
			{"host/cursor/packages.go", "if own.Issue != nil || own.Stop", "if own.Stop"},
			{"host/cursor/packages.go", "(holder.IsZero() || holder.covers(by))", "(true || holder.covers(by))"},
		},
		red: []red{
			{"host/cursor", []string{"TestClaim_Case03"}},
			{"host/runner", []string{"TestEightClaimOnePackage_Case03", "TestHistoryInProcess_SC001"}},
		},
	},
	{
		name:  "what is handed out moves with its token only",
		edits: []edit{{"host/cursor/movehands.go", "case t.Force || t.Token != \"\":", "case true:"}},
		red:   []red{{"host/cursor", []string{"TestMoveEndsAnIssue_P1"}}},
	},
	{
		name:  "the backup before a mending",
		edits: []edit{{"host/commit/mend.go", "if err := s.backup(backup); err != nil {", "if err := error(nil); err != nil {"}},
		red:   []red{{"host/commit", []string{"TestMend"}}},
	},
	{
		name:  "packages' lanes decide a step's end under the lock",
		edits: []edit{{"host/cursor/packages.go", "if !slices.Contains(rule.Until, s.lane(f, p.ID)) {", "if slices.Contains(rule.Until, s.lane(f, p.ID)+\"x\") {"}},
		red:   []red{{"host/runner", []string{"TestPackagesToTheEnd"}}, {"host/cursor", []string{"TestImplementAndReview_SC002_Case35"}}},
	},
	{
		name:  "consent before a command",
		edits: []edit{{"host/runner/consent.go", "if !trusted {", "if trusted && !trusted {"}},
		red:   []red{{"host/runner", []string{"TestNotTrustedOnEveryPath", "TestRevokedConsent", "TestCopiedRunIsNotTrusted"}}},
	},
	{
		name:  "consent is to the bytes that will be used",
		edits: []edit{{"host/runner/consent.go", "raw, err := r.frozenBlob(file, digest)", "raw, err := r.blob(file)"}},
		red:   []red{{"host/runner", []string{"TestCopiedRunIsNotTrusted"}}},
	},
	{
		name: "consent is to one project",
		edits: []edit{
			{"host/trust/store.go", "r.Project == s.project, nil", "true, nil"},
			{"host/trust/store.go", "Digest([]byte(digest+\"\\n\"+s.project))", "Digest([]byte(digest+\"\\n\"))"},
		},
		red: []red{
			{"host/trust", []string{"TestConsentIsForOneProjectAndUser"}},
			{"host/runner", []string{"TestCopiedRunIsNotTrusted"}},
		},
	},
	{
		name:  "exit 1 alone is a no",
		edits: []edit{{"host/command/result.go", "r.Exit == 1:", "r.Exit > 0:"}},
		red: []red{
			{"host/command", []string{"TestVerdictOfEveryEnd_Case08"}},
			{"host/runner", []string{"TestCommandGuard_Case08_Case29"}},
		},
	},
	{
		name:  "the end of a followed run is durable",
		edits: []edit{{"host/commit/successor.go", "case !l.clean && l.pos != settled:", "case false:"}},
		red:   []red{{"host/commit", []string{"TestSweepFollowedRunIsDurable"}}},
	},
	{
		name:  "files that a dead publisher left come first",
		edits: []edit{{"host/runner/artifactlock.go", "w.enroll(ctx, id, t)", "ctx.Err()"}},
		red:   []red{{"host/runner", []string{"TestFilesOfTheDeadComeFirst_P3"}}},
	},
	{
		name:  "that a publisher left nothing is durable before others publish",
		edits: []edit{{"host/runner/publishers.go", "	if err == nil {\n		err = r.commit(", "	if err == nil && other.State.Unpublished != nil {\n		err = r.commit("}},
		red:   []red{{"host/runner", []string{"TestPublisherIsNamedFirst_P3"}}},
	},
	{
		name:  "an import keeps what the index knows of a missing run",
		edits: []edit{{"host/commit/receive.go", "if id := f.goneEntry(o.slug); id != \"\" {", "if id := \"\"; id != \"\" {"}},
		red:   []red{{"host/commit", []string{"TestRunThatIsGoneStaysKnown"}}},
	},
	{
		name:  "an end of the time is no success",
		edits: []edit{{"host/command/run.go", "Result{End: why.end, Err: why.err,", "Result{Err: why.err,"}},
		red:   []red{{"host/command", []string{"TestTimeout_Row41"}}},
	},
	{
		name:  "what a command leaves behind is ended",
		edits: []edit{{"host/command/process.go", "= EndGroup(p.proc.Pid)", "= 0, false"}},
		red:   []red{{"host/command", []string{"TestGrandchildHoldsTheOutput_Row40"}}},
	},
	{
		name:  "what stands in an artifact's place is compared under the lock",
		edits: []edit{{"host/cursor/artifact.go", "now != a.Replaces && now != a.SHA256 {", "false && now != \"\" {"}},
		red: []red{
			{"host/cursor", []string{"TestArtifactsPlace_P3"}},
			{"host/runner", []string{"TestArtifactConflict", "TestTwoMissionsOnePath_P4"}}, // what the plugin read is compared too, and saves a saved plan
		},
	},
	{
		name:  "what stands in an artifact's place is compared before it is written",
		edits: []edit{{"host/artifact/publish.go", "if !states[i].made && digest != f.Replaces && digest != Absent {", "if false {"}},
		red: []red{
			{"host/artifact", []string{"TestConflict"}},
			{"host/runner", []string{"TestLeftOverConflict_P4"}},
		},
	},
	{
		name:  "what a dead writer left unmade is finished first",
		edits: []edit{{"host/commit/commit.go", "!ok || !settler.Settles() {", "false && ok && !settler.Settles() {"}},
		red: []red{
			{"host/commit", []string{"TestPublisher"}},
			{"host/artifact", []string{"TestSweepCrashesOfArtifacts_P3"}},
		},
	},
	{
		name:  "artifacts' folders are synced before it is told that they are made",
		edits: []edit{{"host/artifact/publish.go", "	return p.syncFolders(files)\n", "	return nil\n"}},
		red:   []red{{"host/artifact", []string{"TestSweepErrorsOfArtifacts_P3"}}},
	},
	{
		name:  "guards see staged artifacts",
		edits: []edit{{"host/runner/plugin.go", "call.Mounts = r.p.overlaid(call.Mounts, t.report.Outcome)", "call.Verb = verb"}},
		red:   []red{{"host/runner", []string{"TestGuardsSeeStagedArtifacts"}}},
	},
	{
		name: "a migration makes what it finds durable",
		edits: []edit{{"host/runner/migrate.go", "	for _, name := range sortedKeys(blobs) {\n",
			"	for _, name := range sortedKeys(blobs) {\n		if there, err := r.run.blob(name); err == nil && bytes.Equal(there, blobs[name]) {\n			continue\n		}\n"}},
		red: []red{{"host/runner", []string{"TestMigrationMakesDurableWhatItFinds_P3"}}},
	},
	{
		name:  "what dead writers left is removed by the next commit",
		edits: []edit{{"host/commit/append.go", "	_ = durable.RemoveDeadTemps(s.opts.Disk, s.dir)\n", ""}},
		red:   []red{{"host/runner", []string{"TestKilledLeavesNoTemporaryFile_P3"}}},
	},
	{
		name:  "writers at work keep their temporary files",
		edits: []edit{{"kernel/durable/temp.go", "|| !lives(int(pid))", "|| pid >= 0"}},
		red:   []red{{"kernel/durable", []string{"TestRemoveDeadTemps"}}},
	},
	{
		name:  "a replaced answer leaves work with the token that saw the old one",
		edits: []edit{{"host/cursor/replace.go", "if isInput || strings.HasPrefix(q.ID, PluginID(\"\")) {", "if false && isInput {"}},
		red:   []red{{"host/cursor", []string{"TestReplaceAnswer"}}},
	},
	{
		name:  "a rewind is planned on a state that changed",
		edits: []edit{{"host/cursor/rewind.go", "t.Seen != s.CursorStamp() ||", ""}},
		red:   []red{{"host/cursor", []string{"TestRewindIsFenced"}}},
	},
	{
		name:  "a migration leaves work with the token of the old prompt",
		edits: []edit{{"host/cursor/migrate.go", "		if !same {", "		if false && !same {"}},
		red:   []red{{"host/cursor", []string{"TestMigrateAndWork"}}},
	},
	{
		name:  "a migration's frozen files are durable before its record",
		edits: []edit{{"host/runner/migrate.go", "if err := r.run.store.PutBlob(name, blobs[name]); err != nil {", "if _, err := r.run.store.Publish(name, blobs[name]); err != nil {"}},
		red:   []red{{"host/runner", []string{"TestChangesUnderDiskFaults"}}},
	},
	{
		name:    "the child's address space",
		edits:   []edit{{"host/sandbox/confine_linux.go", "uint64(space + dataLimit(memory))", "uint64(space+dataLimit(memory)) << 10"}},
		inChild: true,
		red:     []red{{"host/sandbox", []string{"TestChildIsConfined"}}},
	},
	{
		name:  "the digest of what is frozen of a plugin, at the call",
		edits: []edit{{"host/runner/run.go", "err == nil && hexSum(data) != sum {", "err == nil && hexSum(data) == \"\" && sum == \"\" {"}},
		red:   []red{{"host/runner", []string{"TestFrozenPluginIsWhatWasPinned"}}},
	},
	{
		name:  "consent before a plugin that may write is called",
		edits: []edit{{"host/runner/plugin.go", "	if err := r.p.mayCall(r.run, r.state, name, frozen); err != nil {\n		return sandbox.Answer{}, err\n	}\n", ""}},
		red:   []red{{"host/runner", []string{"TestWriterIsNotCalledBeforeConsent", "TestArtifactsNeedConsent"}}},
	},
	{
		name:  "an executor replaces only what it read or its run wrote",
		edits: []edit{{"host/runner/executor.go", "	return o, r.overwrites(ctx, t, name, o.Artifacts, seen)\n", "	return o, nil\n"}},
		red:   []red{{"host/runner", []string{"TestNobodysFileIsOverwritten", "TestOwnArtifactIsReplaced", "TestWhatIsNotTheRunsOwn"}}},
	},
	{
		name:  "a plugin that is configured otherwise is told",
		edits: []edit{{"host/runner/drift.go", "	r.pluginsDrift()\n", ""}},
		red:   []red{{"host/runner", []string{"TestPluginDrift"}}},
	},
	{
		name:  "half a character is no text",
		edits: []edit{{"plugins/abi/decode.go", "half != \"\" {", "half != \"\" && false {"}},
		red:   []red{{"plugins/abi", []string{"TestVectors"}}},
	},
	{
		name:  "what is pinned stays in the cache",
		edits: []edit{{"host/sandbox/collect.go", "if pinned || code.Bytes > 0", "if code.Bytes > 0"}},
		red:   []red{{"host/sandbox", []string{"TestCollect"}}},
	},
	{
		name:  "somebody else's write into a loop's journal is seen",
		edits: []edit{{"host/commit/load.go", "!s.touched(v, size, locked) {", "!s.touched(v, size, locked) || s.opts.Watch {"}},
		red:   []red{{"host/tick", []string{"TestDamagedInTheMiddle_Row22"}}},
	},
	{
		name:  "the group of a gate is on record before the gate begins",
		edits: []edit{{"host/tick/phases.go", "*r.src.Gate, r.l.ground.Root, r.regroup)", "*r.src.Gate, r.l.ground.Root, func(command.Process) error { return nil })"}},
		red:   []red{{"host/tick", []string{"TestOrphansOfEveryPart_Row15"}}},
	},
	{
		name:  "a kept result's objects are durable before its name",
		edits: []edit{{"host/worktree/refs.go", "	if err := r.objectsLast(ctx, commit, base); err != nil {", "	if err := r.objectsLast(ctx, commit, commit); err != nil {"}},
		red:   []red{{"host/worktree", []string{"TestWhatLandsLasts"}}},
	},
	{
		name:  "a unit whose name could not be synced is taken back",
		edits: []edit{{"host/scheduler/systemd.go", "read == nil && (Change{", "read == nil && c.Path == \"\" && (Change{"}},
		red:   []red{{"host/scheduler", []string{"TestSweepOfUnits_P3"}}},
	},
	{
		name:  "the names of the root's folders are durable before what is in them",
		edits: []edit{{"host/commit/root.go", "		return d.SyncDir(root)\n", "		return nil\n"}},
		red:   []red{{"host/commit", []string{"TestFoldersOfTheRootAreDurable_P3"}}},
	},
	{
		name:  "a run that the index lacks has a durable name before a commit",
		edits: []edit{{"host/commit/lookup.go", "	return append(warnings, indexWarning(index)...), err\n", "	return append(warnings, indexWarning(errors.Join(index, err))...), nil\n"}},
		red:   []red{{"host/commit", []string{"TestNoIndexLock_P3"}}},
	},
}
