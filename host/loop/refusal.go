package loop

import (
	"fmt"
	"time"
)

// Code names a refusal or a skip. The codes are the reason_code of answers.
type Code string

// Skips: a firing that does nothing, on purpose. They are recorded and no errors.
const (
	SkipPaused     Code = "paused"
	SkipHalted     Code = "halted"
	SkipWaiting    Code = "waiting"
	SkipBusy       Code = "busy"
	SkipBackoff    Code = "backoff"
	SkipDone       Code = "done"
	SkipRetired    Code = "retired"
	SkipSlotSeen   Code = "slot_seen"
	SkipSlotMissed Code = "slot_missed" // its time is over: outside of the catch-up window
	SkipMinGap     Code = "min_gap"
	SkipGate       Code = "gate_closed"
)

// Refusals: nothing was written.
const (
	Exists          Code = "exists"
	Untracked       Code = "untracked"
	NewerFormat     Code = "newer_format"
	NestedTick      Code = "nested_tick"
	InsideRun       Code = "inside_run"
	SelfApproval    Code = "self_approval"
	OrphanAlive     Code = "orphan_alive"
	NoOrphan        Code = "no_orphan"
	ReasonRequired  Code = "reason_required"
	StaleToken      Code = "stale_token"
	LoopReplaced    Code = "loop_replaced"
	WrongPhase      Code = "wrong_phase"
	NotLanded       Code = "not_landed"
	UsageUnknown    Code = "usage_unknown"
	DefinitionMoved Code = "definition_changed"
	IsRetired       Code = "retired"
	IsHalted        Code = "halted"
	IsCanceled      Code = "canceled"
	NeedsApproval   Code = "approval_required"
	WorktreeShared  Code = "worktree_shared"
	NotPaused       Code = "not_paused"
	NothingWaiting  Code = "nothing_waiting"
	AlreadyDecided  Code = "already_decided"
	StaleApproval   Code = "stale_approval"
	ApprovalExpired Code = "approval_expired"
	NotHalted       Code = "not_halted"
	HaltChanged     Code = "halt_changed"
	LeaseLive       Code = "lease_live"
	NoClaim         Code = "no_claim"
	NotCanceled     Code = "not_canceled"
	NotRetired      Code = "not_retired"
	ClaimLive       Code = "claim_live"
	Unlanded        Code = "unlanded_commits"
	BadRequest      Code = "usage"
)

// Halting names why a loop is halted.
type Halting string

// The halts.
const (
	HaltVerify      Halting = "verify_failed"
	HaltRuns        Halting = "limit_runs"
	HaltCost        Halting = "limit_cost"
	HaltTokens      Halting = "limit_tokens"
	HaltTime        Halting = "limit_time"
	HaltFailures    Halting = "limit_failures"
	HaltNoProgress  Halting = "no_progress"
	HaltContext     Halting = "context_floor"
	HaltDenied      Halting = "denied"
	HaltExpired     Halting = "approval_expired"
	HaltCrashed     Halting = "crashed"
	HaltBranchMoved Halting = "branch_moved"
	HaltOlderCopy   Halting = "older_copy"

	// DoneCode is what clear names for a loop that is done, BackoffCode for one that
	// rests after failures.
	DoneCode    Halting = "done"
	BackoffCode Halting = "backoff"
)

// Refusal says why Decide made no events. Nothing was written.
type Refusal struct {
	Code    Code
	Message string    // what is in the way, and what to do
	By      string    // who decided, for already_decided
	At      time.Time // when
}

func (r *Refusal) Error() string { return string(r.Code) + ": " + r.Message }

func refuse(code Code, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Message: fmt.Sprintf(format, args...)}
}
