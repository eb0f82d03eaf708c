// Package plugins holds what a plugin's author needs: the page README.md, the
// ABI's types, schemas and vectors in abi, plugins to begin with in starter, and
// nothing of the host.
package plugins

import _ "embed" // of the page

// Manual is README.md: how a plugin is written.
//
//go:embed README.md
var Manual string
