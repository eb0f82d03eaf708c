// Package runner puts the engine together: it reads a run, dispatches the
// step's executor, evaluates the guards, plans, commits the plan through the
// commit core and answers. It promises that no lock is held while foreign code
// runs, that a report is committed on exactly what was evaluated or refused by
// name, and that a query changes nothing. A Project may be used by any number
// of goroutines.
package runner
