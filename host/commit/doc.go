// Package commit is the commit core: it takes a state machine from one state
// to the next so that what was acknowledged survives a crash at any point and
// what was refused leaves no trace.
//
// A journal is the truth, one record per commit; the state beside it is a view
// of the journal. A transition is a plain value: the core takes the lock,
// repairs what a dead writer left, reads the state and the facts again, lets
// the transition decide, appends one record and syncs it. That sync is the
// commit point. docs/crash-model.md argues each step, docs/journal-format.md
// gives the bytes.
//
// State, facts and events are type parameters. Store and Catalog are what a
// storage offers; Files is the storage in files. The package committest runs
// the same proofs over any of them.
package commit
