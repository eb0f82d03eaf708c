package loop

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/spec-kitty/step-runner/host/schedule"
)

// Definition is what a loop does, as its TOML file says. Limits that are absent
// there have their defaults here; of those without a default, zero is "none".
type Definition struct {
	Name        string
	Description string
	Gate        *Check // nil: always open
	Work        Work
	Verify      *Verifier // nil: whatever the work leaves is good
	Goal        *Check    // nil: none; the loop runs until a limit
	Approval    ApprovalRule
	Limits      Limits
	Worktree    Worktree
	Schedule    Schedule
	Lease       time.Duration
	Notify      Notify
}

// Check is what answers a question of the runner: a program of the definition,
// a declared command or a plugin's guard verb. Exactly one of the three is set.
type Check struct {
	Run     []string // argv, no shell
	Command string
	Plugin  string
	Timeout time.Duration
}

// Work is the program that does a run's work.
type Work struct {
	Run         []string // argv, no shell
	PromptFile  string   // below the project root, with slashes; "" for none
	Prompt      string   // its text, for the work's standard input
	Timeout     time.Duration
	IdleTimeout time.Duration // without output and processor time; 0: not watched
	KillGrace   time.Duration // between TERM and KILL
	PassEnv     []string
}

// Verifier judges what the work left.
type Verifier struct {
	Check
	Protect []string // patterns; a change of such a file asks for approval to land
	Retry   bool     // a refusal is tried again; else it halts the loop
}

// ApprovalRule says when a person is asked.
type ApprovalRule struct {
	Before  []Stage
	Expires time.Duration
}

// Limits bound a loop. Each is above zero or absent, and absent ones without a
// default bound nothing; but one of MaxRuns, a goal and a spend limit is there.
type Limits struct {
	MaxRuns         int // 0: none
	MaxFailures     int // in a row
	MaxNoProgress   int // in a row
	MaxCostPerRun   Money
	MaxCostPerDay   Money
	MaxTokensPerRun int64
	MaxTokensPerDay int64
	MaxTimePerDay   time.Duration
	ContextFloor    int // percent of the context that must be left; 0: none
}

// Worktree says where the work is done.
type Worktree struct {
	Base     string // branch or commit that a new branch begins at
	Branch   string // of the loop
	Setup    []string
	KeepRuns int // folders of runs that are kept
}

// Schedule says when ticks are due.
type Schedule struct {
	Rule    schedule.Rule // zero: by hand, or by a scheduler of one's own
	Jitter  time.Duration
	MinGap  time.Duration // between two claims
	CatchUp bool          // a missed time is made up for, once
	Window  time.Duration // and this long after it
}

// Notify says whom to tell of what.
type Notify struct {
	Run          []string
	On           []Occasion
	OverdueAfter time.Duration // since the newest success; 0: never
}

// Canonical is the definition as bytes: what its digest is made of. Comments and the
// order of keys in the file make no difference.
func (d *Definition) Canonical() []byte {
	raw, err := json.Marshal(d)
	if err != nil {
		panic("loop: a definition does not encode: " + err.Error())
	}
	return raw
}

// Digest is the SHA-256 of Canonical, 64 hexadecimal digits.
func (d *Definition) Digest() string {
	sum := sha256.Sum256(d.Canonical())
	return hex.EncodeToString(sum[:])
}

// Checks are the checks that the definition has, by the part that they play: gate,
// verify, goal.
func (d *Definition) Checks() map[string]Check {
	checks := map[string]Check{}
	for part, c := range map[string]*Check{"gate": d.Gate, "goal": d.Goal} {
		if c != nil {
			checks[part] = *c
		}
	}
	if d.Verify != nil {
		checks["verify"] = d.Verify.Check
	}
	return checks
}

// Defaults of a definition.
const (
	DefaultFailures     = 3
	DefaultNoProgress   = 3
	DefaultLease        = 90 * time.Second
	DefaultGateTimeout  = 30 * time.Second
	DefaultCheckTimeout = 20 * time.Minute
	DefaultKillGrace    = 15 * time.Second
	DefaultExpires      = 72 * time.Hour
	DefaultWindow       = 6 * time.Hour
	DefaultKeepRuns     = 20
)

// Asks tells whether a person is asked before a stage.
func (d *Definition) Asks(stage Stage) bool { return slices.Contains(d.Approval.Before, stage) }

// Rules are what of the definition outcomes go by. A claim records them, so
// that a run is judged by the definition as it stood when it began, also by
// whoever finishes it.
func (d *Definition) Rules() Rules {
	return Rules{
		Lease: Span(d.Lease), MaxRuns: d.Limits.MaxRuns, MaxFailures: d.Limits.MaxFailures, MaxNoProgress: d.Limits.MaxNoProgress,
		MaxCostPerRun: d.Limits.MaxCostPerRun, MaxCostPerDay: d.Limits.MaxCostPerDay,
		MaxTokensPerRun: d.Limits.MaxTokensPerRun, MaxTokensPerDay: d.Limits.MaxTokensPerDay,
		MaxTimePerDay: Span(d.Limits.MaxTimePerDay), ContextFloor: d.Limits.ContextFloor,
		Retry: d.Verify != nil && d.Verify.Retry, Expires: Span(d.Approval.Expires), Before: d.Approval.Before,
	}
}

// Rules are the definition's limits as a claim records them. Zero is "none".
type Rules struct {
	Lease           Span    `json:"lease"`
	MaxRuns         int     `json:"max_runs,omitempty"`
	MaxFailures     int     `json:"max_failures,omitempty"`
	MaxNoProgress   int     `json:"max_no_progress,omitempty"`
	MaxCostPerRun   Money   `json:"max_cost_per_run,omitempty"`
	MaxCostPerDay   Money   `json:"max_cost_per_day,omitempty"`
	MaxTokensPerRun int64   `json:"max_tokens_per_run,omitempty"`
	MaxTokensPerDay int64   `json:"max_tokens_per_day,omitempty"`
	MaxTimePerDay   Span    `json:"max_time_per_day,omitempty"`
	ContextFloor    int     `json:"context_floor,omitempty"`
	Retry           bool    `json:"retry,omitempty"`
	Expires         Span    `json:"expires,omitempty"`
	Before          []Stage `json:"before,omitempty"`
}
