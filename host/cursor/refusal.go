package cursor

import (
	"fmt"
	"time"
)

// Code names a refusal. The codes are part of the answer's contract.
type Code string

// The codes of blocks: a caller who meets one has an answer of kind blocked.
const (
	CursorMoved      Code = "cursor_moved"
	StalePlan        Code = "stale_plan"
	StaleToken       Code = "stale_token"
	AlreadyReported  Code = "already_reported"
	TokenRequired    Code = "token_required"
	NotHolder        Code = "not_holder"
	GuardRefused     Code = "guard_refused"
	StepFailed       Code = "step_failed"
	StepBlocked      Code = "step_blocked"
	AuditRejected    Code = "audit_rejected"
	Waiting          Code = "waiting_for_work_packages"
	PackageHeld      Code = "package_held"
	RunAbortedCode   Code = "run_aborted"
	ArtifactConflict Code = "artifact_conflict"
)

// The codes of errors: the call itself was wrong, and it has no answer.
const (
	NothingIssued     Code = "nothing_issued"
	DecisionConflict  Code = "decision_conflict"
	StaleDecision     Code = "stale_decision"
	AuditNeedsHuman   Code = "audit_needs_human"
	InvalidAnswer     Code = "invalid_answer"
	DecisionNotFound  Code = "decision_not_found"
	DecisionAmbiguous Code = "decision_ambiguous"
	SelfReview        Code = "self_review"
	LanesReadOnly     Code = "lanes_read_only"
	IllegalMove       Code = "illegal_move"
	PackageNotFound   Code = "package_not_found"
	RunExists         Code = "run_exists"
	NothingToPublish  Code = "nothing_to_publish"
	Usage             Code = "usage"
)

// Refusal says why Decide made no events. Nothing was written.
type Refusal struct {
	Code    Code
	Message string
	Options []string       // what could have been named instead
	Holder  Holder         // who holds the work, where that is the reason
	Since   time.Time      // since when
	Guards  []GuardFailure // for guard_refused
	Release string         // the package whose release is the way out; "": no package's
}

func (r *Refusal) Error() string { return string(r.Code) + ": " + r.Message }

// GuardFailure is a guard that did not allow.
type GuardFailure struct {
	Guard, Verdict, Expected, Examined, Fix string

	Message string // the definition's own words for a refusal; "" for ours
}

// Sentence is the failure in one sentence for people.
func (f GuardFailure) Sentence() string {
	text := f.Guard
	switch {
	case f.Message != "" && f.Verdict == "refuse":
		return f.Message
	case f.Verdict != "refuse":
		text += " could not be evaluated: " + f.Examined
	case f.Expected == "":
		text += ": " + f.Examined
	default:
		text += ": expected " + f.Expected + ", found " + f.Examined
	}
	if f.Fix != "" {
		text += " (" + f.Fix + ")"
	}
	return text
}

func refuse(code Code, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Message: fmt.Sprintf(format, args...)}
}
