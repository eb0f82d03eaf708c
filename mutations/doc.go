// Package mutations proves the tests: each mutation takes one part of the
// protocol out, by an overlay over one file, and its tests must then turn red.
// A part that can be taken out unnoticed is not pinned. The default run tries
// the parts that SC-003 names; -all, which .ci/run sets, tries every one.
package mutations
