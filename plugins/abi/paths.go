package abi

import (
	"fmt"
	"path"
	"strings"
	"unicode"
)

// Names that a file system takes, in bytes. A file is written beside its place
// first, under its own name with 22 bytes more.
const (
	maxPart = 255
	maxBase = maxPart - 22
)

// PathFault says why a path cannot be that of an artifact on every system that a
// project may lie on; "" where it can. A placeholder is a folder like any other.
func PathFault(p string) string {
	switch {
	case p == "" || len(p) > MaxPath:
		return fmt.Sprintf("a path has 1 to %d bytes", MaxPath)
	case strings.HasPrefix(p, "/") || strings.Contains(p, ":"):
		return "write it relative to the project, without a leading slash or a drive"
	case strings.Contains(p, `\`):
		return "separate folders by /"
	case path.Clean(p) != p || p == "." || p == ".." || strings.HasPrefix(p, "../"):
		return "write it without ., .. and double slashes, inside the project"
	case strings.ContainsFunc(p, unicode.IsControl):
		return "it holds a control character"
	case len(path.Base(p)) > maxBase:
		return fmt.Sprintf("the name of a file has at most %d bytes", maxBase)
	}
	for _, part := range strings.Split(p, "/") {
		if why := partFault(part); why != "" {
			return why
		}
	}
	return ""
}

func partFault(part string) string {
	switch {
	case strings.EqualFold(part, ".git"):
		return "nothing is written to .git"
	case strings.HasSuffix(part, ".") || strings.HasSuffix(part, " "):
		return "a name does not end with a dot or space"
	case len(part) > maxPart:
		return fmt.Sprintf("the name of a folder has at most %d bytes", maxPart)
	}
	return ""
}

// PathsFault says why files cannot all be made at their paths, each of which may
// be one by itself: the index of the path that is at fault, and what is wrong
// with it; "" where they can. Large and small letters are the same to some file
// systems, so they are here.
func PathsFault(paths []string) (at int, why string) {
	files, folders := map[string]bool{}, map[string]string{}
	for i, p := range paths {
		folded := strings.ToLower(p)
		if files[folded] {
			return i, "is there twice"
		}
		if _, isFolder := folders[folded]; isFolder {
			return i, "is a folder of another path"
		}
		files[folded] = true
		for dir := path.Dir(p); dir != "." && dir != "/"; dir = path.Dir(dir) {
			folded := strings.ToLower(dir)
			if files[folded] {
				return i, "lies in a folder that is another path's file"
			}
			if as, known := folders[folded]; known && as != dir {
				return i, fmt.Sprintf("lies in a folder that another path spells %q", cut(as))
			}
			folders[folded] = dir
		}
	}
	return 0, ""
}
