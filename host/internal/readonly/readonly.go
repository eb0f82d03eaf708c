// Package readonly reads regular files, most of them inside one folder. It promises
// that a name in a folder cannot lead out of it, neither by dots nor by links, that
// nothing but a regular file is ever read (a named pipe cannot make a caller
// wait), and that no more than the given number of bytes is held. It writes
// nothing. All functions may be called by any number of goroutines.
package readonly

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

// NotRegularError says that a name is there and is no regular file.
type NotRegularError struct {
	Name string
	Mode fs.FileMode
}

func (e *NotRegularError) Error() string {
	return fmt.Sprintf("%s is %s, not a regular file", e.Name, kind(e.Mode))
}

// OutsideError says that a link in the name leads out of the folder, or to
// itself.
type OutsideError struct {
	Name string
	Link string // the first link on the way
}

func (e *OutsideError) Error() string {
	if e.Link == e.Name {
		return e.Name + " is a link that leads out of its folder"
	}
	return fmt.Sprintf("%s lies behind %s, a link that leads out of its folder", e.Name, e.Link)
}

// TooLargeError says that a file has more than Limit bytes.
type TooLargeError struct {
	Name  string
	Limit int64
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s has more than %d bytes, which is as much as is read", e.Name, e.Limit)
}

// File reads the regular file name (with forward slashes) inside root. A file
// that is not there is fs.ErrNotExist, also where a part of its path is a file;
// further errors are *NotRegularError, *OutsideError and *TooLargeError, and
// what the system says.
func File(root *os.Root, name string, limit int64) ([]byte, fs.FileInfo, error) {
	f, info, err := Open(root, name)
	if err != nil {
		return nil, nil, err
	}
	return whole(f, info, name, limit)
}

// Path is File for a path that its caller vouches for: links are followed wherever
// they lead.
func Path(name string, limit int64) ([]byte, fs.FileInfo, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|NoWait, 0)
	if err != nil {
		return nil, nil, err
	}
	f, info, err := regular(f, name)
	if err != nil {
		return nil, nil, err
	}
	return whole(f, info, name, limit)
}

// whole reads a file to its end and closes it.
func whole(f *os.File, info fs.FileInfo, name string, limit int64) ([]byte, fs.FileInfo, error) {
	defer f.Close()
	data, fits, err := AtMost(f, info.Size(), limit)
	if err != nil {
		return nil, nil, err
	}
	if !fits {
		return nil, nil, &TooLargeError{Name: name, Limit: limit}
	}
	return data, info, nil
}

// Open is File for who reads the file himself, and closes it.
func Open(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|NoWait, 0)
	if err != nil {
		return nil, nil, explain(root, name, err)
	}
	return regular(f, name)
}

// regular closes a file that is none.
func regular(f *os.File, name string) (*os.File, fs.FileInfo, error) {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &NotRegularError{Name: name, Mode: info.Mode()}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// AtMost reads to the end, if that comes within limit bytes; fits tells whether it
// did. size is a hint: a file may grow between its size and its bytes.
func AtMost(r io.Reader, size, limit int64) (data []byte, fits bool, err error) {
	if size > limit {
		return nil, false, nil
	}
	data = make([]byte, 0, size+1)
	for int64(len(data)) <= limit {
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF {
			return data, int64(len(data)) <= limit, nil
		}
		if err != nil {
			return nil, false, err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
	return nil, false, nil
}

// explain names what stood in the way of an open.
func explain(root *os.Root, name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) && !dangling(root, name) {
		return err
	}
	if errors.Is(err, syscall.ENOTDIR) {
		return &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if errors.Is(err, fs.ErrPermission) {
		return err
	}
	if info, statErr := root.Stat(name); statErr == nil {
		if !info.Mode().IsRegular() {
			return &NotRegularError{Name: name, Mode: info.Mode()}
		}
		return err
	}
	if link, ok := firstLink(root, name); ok {
		return &OutsideError{Name: name, Link: link}
	}
	return err
}

// dangling tells whether name itself is there as a link whose target is not.
func dangling(root *os.Root, name string) bool {
	info, err := root.Lstat(name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

func firstLink(root *os.Root, name string) (string, bool) {
	parts := strings.Split(name, "/")
	for i := range parts {
		prefix := path.Join(parts[:i+1]...)
		info, err := root.Lstat(prefix)
		if err != nil {
			return "", false
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return prefix, true
		}
	}
	return "", false
}

func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}
