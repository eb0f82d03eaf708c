// Package torture holds the proof by force: real processes work on one mission and
// one loop and are killed, stopped, and kept from writing, over and over. Afterwards
// every result that one of them was told is in a journal exactly once, nothing is
// there twice, the files of executors are made once, the branch of the loop has what
// is on record as landed, no two of its works were ever under way at once, and every
// run is sound. The default run takes a few seconds;
//
//	go test ./torture -for 60s -v
//
// goes on for longer and prints how many commits were killed, and
//
//	go test ./torture -kills 10000 -timeout 60m -v
//
// until so many were.
package torture
