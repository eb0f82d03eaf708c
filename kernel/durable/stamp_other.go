//go:build !linux

package durable

import "io/fs"

func stampOf(info fs.FileInfo) string { return changed(info) }
