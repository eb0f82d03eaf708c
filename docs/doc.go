// Package docs is the documentation, and holds the pages that help prints as they
// are. Its tests promise that what the pages say is so: the tables of keys are those
// that the decoder accepts, with their types and defaults; every TOML block loads;
// every JSON document fits its schema; the worked example runs to its end; and links
// lead somewhere.
package docs

import _ "embed" // of the pages

// Missions is the page on writing a mission, in Markdown.
//
//go:embed missions.md
var Missions string

// Loops is the page on writing a loop, in Markdown.
//
//go:embed loops.md
var Loops string
