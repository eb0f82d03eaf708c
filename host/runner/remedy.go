package runner

import "github.com/spec-kitty/step-runner/host/cursor"

// Next is what to do about the error.
func (e *Error) Next() string {
	if e.NextStep != "" {
		return e.NextStep
	}
	return Remedy(e.Code)
}

// Remedy is what to do about an error of a code, where the error itself does not
// say it better. It is "" for a code that no error of this package has.
func Remedy(code Code) string {
	switch code {
	case CodeRunExists:
		return "`spec-kitty next` goes on with it; when it is over, `spec-kitty run start` with --again starts a new one"
	case CodeAlreadyExists:
		return "choose another place, or take away what lies there"
	case CodeUsage:
		return "`spec-kitty help COMMAND` says what the command takes"
	case CodeInvalidAnswer:
		return "give a text that is not empty; `spec-kitty decision show` shows what is asked"
	case CodeDefinitionInvalid:
		return "mend what is named, then call again; `spec-kitty mission validate` lists all that is wrong with the definitions"
	case CodeMissionNotFound:
		return "`spec-kitty mission list` shows the missions there are"
	case CodeMissionAmbiguous, CodeAmbiguous:
		return "name one of the candidates in full"
	case CodeNotFound:
		return "name one that is there"
	case CodeRunNotFound:
		return "`spec-kitty run start SLUG` starts one; `spec-kitty run list` shows those there are"
	case CodeStateDamaged:
		return "`spec-kitty doctor` says what is whole and what is not; the bytes were left as they are"
	case CodeRunMissing:
		return "put the run's folder back; if it is gone for good, `spec-kitty run start SLUG --again` forgets it and starts anew"
	case CodeTwoWriters:
		return "find who else writes to this run; `spec-kitty doctor` says what is whole"
	case CodeNewerFormat:
		return "use the newer version of spec-kitty"
	case CodeNotTrusted:
		return "`spec-kitty help trust` explains how to consent"
	case CodeNotRecorded:
		return "make room or mend the permissions, then call again"
	case CodeInternal:
		return "this is a fault of the program: please report it with this message"
	}
	return remedyOfRefusal(cursor.Code(code))
}

// remedyOfRefusal is Remedy of the codes that come from the run's rules.
func remedyOfRefusal(code cursor.Code) string {
	switch code {
	case cursor.NothingToPublish:
		return "nothing is to be done"
	case cursor.NothingToRetry:
		return "nothing failed, is blocked or was rejected there: ask for work, or look at `spec-kitty status`"
	case cursor.NothingToAbort:
		return "`spec-kitty run start` with --again starts a new run; `spec-kitty help rewind` takes completed steps back"
	case cursor.NothingToRewind:
		return "`spec-kitty run log` lists the revisions, `spec-kitty run show` the steps that are complete"
	case cursor.NothingToMigrate:
		return "`spec-kitty run start` with --again starts a new run, by the definition as it is now"
	case cursor.MigrationRefused:
		return "do what the refusal names, or go on by the definition that the run froze; `--dry-run` shows what a migration changes"
	case cursor.LanesReadOnly:
		return "rewind without --lanes, and move packages by `spec-kitty wp move`"
	case cursor.DecisionNotFound:
		return "`spec-kitty decision list` shows the questions there are"
	case cursor.DecisionAmbiguous:
		return "`spec-kitty decision list` shows the open questions: name one"
	case cursor.StepNotFound:
		return "`spec-kitty run show` lists the steps"
	case cursor.PackageNotFound:
		return "`spec-kitty wp list` shows the packages"
	case cursor.NothingIssued:
		return "ask for work with --result success"
	case cursor.StaleDecision:
		return "look at the question again with a query, and answer with the token that it shows"
	case cursor.AuditNeedsHuman:
		return "let a person do it, whom the run names if it names one: --as human:NAME"
	case cursor.DecisionConflict:
		return "the first answer stands; `spec-kitty decision answer --replace` changes it, as long as no step was completed with it"
	case cursor.AnswerUsed:
		return "take back what was made with it first: `spec-kitty help rewind`; an audit that was rejected is asked again by `spec-kitty run retry`"
	case cursor.DecisionNeeded:
		return "`spec-kitty decision answer` or `spec-kitty decision postpone`; for a step that does not apply, and is no audit, `spec-kitty help skip`"
	case cursor.SelfReview:
		return "let somebody else review it"
	case cursor.IllegalMove:
		return "it may be moved with --force and --reason TEXT"
	}
	return ""
}
