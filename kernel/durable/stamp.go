package durable

import "io/fs"

// Stamp tells a file from what becomes of it when anybody writes to it, or puts
// another one in its place, even one of the same bytes: two equal stamps mean that
// nobody did. That holds as finely as the system keeps time, some milliseconds, and
// not for what a disk loses by itself. "" where nothing can be told.
func Stamp(d Disk, path string) string {
	info, err := d.Stat(path)
	if err != nil {
		return ""
	}
	return stampOf(info)
}

// changed is a stamp by the time of the newest change of the content, which whoever
// wants to can set.
func changed(info fs.FileInfo) string {
	if info.ModTime().IsZero() {
		return ""
	}
	return "m" + info.ModTime().UTC().Format("20060102150405.000000000")
}
