package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// NotRegularError says that something is at the path and is no regular file: a
// folder, a link, a named pipe, a device, a socket. It was not read.
type NotRegularError struct {
	Path string
	Mode fs.FileMode
}

func (e *NotRegularError) Error() string {
	return fmt.Sprintf("%s is %s, not a file", e.Path, e.Kind())
}

// Kind names what is there, with its article.
func (e *NotRegularError) Kind() string { return What(e.Mode) }

// What names what has a mode, with its article, for messages.
func What(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "a file"
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeSymlink != 0:
		return "a link"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}

// openRegular opens without waiting for whoever may be at a pipe's other end,
// and looks at what it has before anything is read: a look before the open
// could be of another file.
func openRegular(path string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := openPlain(path, flag, perm)
	if err != nil {
		// A folder cannot be opened for writing, a link or a socket not at all.
		if info, serr := os.Lstat(path); serr == nil && !info.Mode().IsRegular() && !errors.Is(err, fs.ErrExist) {
			return nil, &NotRegularError{path, info.Mode()}
		}
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &NotRegularError{path, info.Mode()}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
