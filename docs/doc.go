// Package docs is the documentation. It has no Go code of its own; its tests
// promise that what the pages say is so: the tables of keys are those that the
// decoder accepts, with their types and defaults; every TOML block loads; every
// JSON document fits its schema; the worked example runs to its end; and links
// lead somewhere.
package docs
