// Package mutations proves the tests: each mutation takes one part of the
// protocol out, and its tests must then turn red. A part that can be taken out
// unnoticed is not pinned. All mutations are woven into one set of the tests'
// programs, by an overlay over the files, and each is tried by choosing it; with none
// chosen the same tests must be green. The default run tries the parts that SC-003
// names; -all tries every one, -rest, which .ci/run sets, those that are left.
package mutations
