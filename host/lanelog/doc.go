// Package lanelog appends our own moves of work packages to the lane log of an
// existing project, status.events.jsonl in a mission's folder, so that the tool
// that keeps the log reads them as its own. It promises:
//
//   - that it writes under that tool's own lock (LockPath), which the caller takes
//     before any lock of a run and holds from the reading of the lanes on;
//   - that a move is durable when Append returns without error, and gone, as far
//     as the disk allows, when it returns a *CutError;
//   - that every line which was there stays as it was, byte for byte;
//   - that at most one line is ever not synced, and that it is the last, so that
//     what a crash leaves of it is told from damage and cut off.
//
// Reading is the package lanes'. Nothing here commits to git, nor writes
// status.json.
package lanelog
