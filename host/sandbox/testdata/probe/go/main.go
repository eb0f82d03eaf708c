//go:build wasip1

// Command probe tries what a guest must not be able to do, see ../README.md.
package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
	"unsafe"
)

func main() {
	for _, attempt := range os.Args[1 : len(os.Args)-1] {
		op, path, _ := strings.Cut(attempt, " ")
		found, err := try(op, path)
		if err != nil {
			fmt.Printf("%s: no\n", attempt)
			fmt.Fprintf(os.Stderr, "%s: %v\n", attempt, err)
			continue
		}
		fmt.Println(strings.TrimSpace(attempt + ": yes " + found))
	}
}

func try(op, path string) (string, error) {
	switch op {
	case "r":
		b, err := os.ReadFile(path)
		return string(b), err
	case "l":
		return list(path)
	case "s":
		info, err := os.Stat(path)
		if err != nil || info.IsDir() {
			return "folder", err
		}
		return "file", nil
	case "w":
		return "", write(path, os.O_WRONLY)
	case "c":
		return "", write(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	case "t":
		return "", write(path, os.O_WRONLY|os.O_TRUNC)
	case "m":
		return "", os.Mkdir(path, 0o755)
	case "u":
		return "", os.RemoveAll(path)
	case "n":
		return "", os.Rename(path, path+"-2")
	case "k":
		return "", os.Symlink(path, path+"-2")
	case "h":
		return "", os.Link(path, path+"-2")
	case "o":
		return "", open(path)
	case "env":
		return fmt.Sprint(len(os.Environ())), nil
	case "clock":
		return fmt.Sprint(time.Now().Unix()), nil
	case "sock":
		_, err := net.DialTimeout("tcp", path, time.Second)
		return "", err
	}
	return "", errors.New("an unknown operation")
}

func list(path string) (string, error) {
	entries, err := os.ReadDir(path)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, ","), err
}

func write(path string, flags int) error {
	f, err := os.OpenFile(path, flags, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString("written")
	return errors.Join(err, f.Close())
}

//go:wasmimport wasi_snapshot_preview1 path_open
func pathOpen(fd int32, look uint32, path unsafe.Pointer, size uint32, how uint32, rights, inherited uint64, flags uint32, out unsafe.Pointer) uint32

func open(path string) error {
	b, fd := []byte(path), int32(0)
	if errno := pathOpen(3, 1, unsafe.Pointer(&b[0]), uint32(len(b)), 0, 2, 2, 0, unsafe.Pointer(&fd)); errno != 0 {
		return fmt.Errorf("error %d", errno)
	}
	return nil
}
