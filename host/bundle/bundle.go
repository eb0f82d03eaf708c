// Package bundle packs the files of one folder into bytes that have one digest:
// a plugin's script with all that it reads beside it. It promises that the same
// files give the same bytes on every system and in every order of reading, that
// other names or contents give other bytes, and that what was packed comes out
// again or is refused. Times, owners, modes and empty folders are no part of it.
//
// The packed form is a line "spec-kitty bundle 1", then for each file, by name, a
// line with its length in decimal digits, a space and its name with slashes,
// then its bytes and a newline.
//
// Nothing is kept between calls: all functions may be called concurrently.
package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a bundle.
const (
	MaxFiles = 1000
	MaxBytes = 4 << 20 // of the packed form
	maxName  = 500     // bytes
)

const head = "spec-kitty bundle 1\n"

// File is one file of a bundle.
type File struct {
	Name string // relative, with slashes
	Data []byte
}

// Sum is the digest of a packed bundle: 64 hex digits.
func Sum(packed []byte) string {
	sum := sha256.Sum256(packed)
	return hex.EncodeToString(sum[:])
}

// Pack gives the packed form of files, in whatever order they come. Names that no
// bundle may hold, doubled ones, no file at all and what is over the bounds are
// errors.
func Pack(files []File) ([]byte, error) {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	if err := check(files); err != nil {
		return nil, err
	}
	out := bytes.NewBufferString(head)
	for _, f := range files {
		if out.Len()+len(f.Data)+len(f.Name)+32 > MaxBytes {
			return nil, errTooLarge()
		}
		out.WriteString(strconv.Itoa(len(f.Data)) + " " + f.Name + "\n")
		out.Write(f.Data)
		out.WriteByte('\n')
	}
	return out.Bytes(), nil
}

func errTooLarge() error {
	return fmt.Errorf("the files are more than %d MiB together: keep there what the plugin needs alone", MaxBytes>>20)
}

// Unpack gives the files of a packed bundle, by name; their data are parts of
// packed. Anything but what Pack makes is an error.
func Unpack(packed []byte) ([]File, error) {
	if len(packed) > MaxBytes {
		return nil, errTooLarge()
	}
	rest, ok := bytes.CutPrefix(packed, []byte(head))
	if !ok {
		return nil, fmt.Errorf("no bundle: it does not begin with %q", head)
	}
	var files []File
	for len(rest) > 0 {
		f, after, ok := first(rest)
		if !ok {
			return nil, fmt.Errorf("a damaged bundle, after %d files", len(files))
		}
		files, rest = append(files, f), after
	}
	return files, check(files)
}

// first reads one file and gives what follows it.
func first(text []byte) (f File, rest []byte, ok bool) {
	line, rest, ok := bytes.Cut(text, []byte("\n"))
	length, name, spaced := strings.Cut(string(line), " ")
	n, err := strconv.Atoi(length)
	if !ok || !spaced || err != nil || strconv.Itoa(n) != length || n < 0 || n >= len(rest) || rest[n] != '\n' {
		return f, nil, false
	}
	return File{Name: name, Data: rest[:n:n]}, rest[n+1:], true
}

// check holds files, sorted by name, against the rules.
func check(files []File) error {
	switch {
	case len(files) == 0:
		return fmt.Errorf("there are no files")
	case len(files) > MaxFiles:
		return fmt.Errorf("there are more than %d files: keep there what the plugin needs alone", MaxFiles)
	}
	names := map[string]bool{}
	for i, f := range files {
		if err := checkName(f.Name); err != nil {
			return err
		}
		if i > 0 && files[i-1].Name >= f.Name {
			return fmt.Errorf("%q stands twice, or out of order", f.Name)
		}
		names[f.Name] = true
	}
	for _, f := range files {
		for dir := path.Dir(f.Name); dir != "."; dir = path.Dir(dir) {
			if names[dir] {
				return fmt.Errorf("%q is a file and a folder", dir)
			}
		}
	}
	return nil
}

// checkName refuses names that another system reads otherwise, or not at all.
func checkName(name string) error {
	why := ""
	switch {
	case !utf8.ValidString(name):
		why = "is no UTF-8"
	case len(name) > maxName:
		why = fmt.Sprintf("is longer than %d bytes", maxName)
	case strings.ContainsFunc(name, unicode.IsControl):
		why = "holds a control character"
	case strings.ContainsAny(name, `\:*?"<>|`):
		why = `holds one of \ : * ? " < > |, which not every system can name`
	case name == "" || path.IsAbs(name) || path.Clean(name) != name || name == "." || name == ".." || strings.HasPrefix(name, "../"):
		why = "is no path below the folder"
	case slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return strings.EqualFold(part, ".git") }):
		why = "lies in a git folder: let the plugin's folder be one below it"
	}
	if why == "" {
		return nil
	}
	return fmt.Errorf("the name %q %s", name, why)
}
