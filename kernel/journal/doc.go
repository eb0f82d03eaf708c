// Package journal is the record format of a run's history: one line per
// commit, each with a digest that covers the digest before it. It appends,
// reads, tells a torn tail from damage, and mends the end. It knows no event
// types and takes no lock; the caller holds one where it writes.
//
// The bytes are specified in docs/journal-format.md, the argument for each
// branch of recovery in docs/crash-model.md.
package journal
