package lanelog

import "fmt"

// CutError says that a move could not be written, and that nothing of it is left.
type CutError struct {
	Path string
	Err  error
}

func (e *CutError) Error() string {
	return fmt.Sprintf("%s could not be appended to, and is as it was: %v; make room or give the rights, then call again", e.Path, e.Err)
}

func (e *CutError) Unwrap() error { return e.Err }

// UncertainError says that moves may have been written and not made durable. The
// next call reads the log again and goes on from what is there.
type UncertainError struct {
	Path string
	Err  error
}

func (e *UncertainError) Error() string {
	return fmt.Sprintf("%s may have been appended to: %v; call again, the log is read anew", e.Path, e.Err)
}

func (e *UncertainError) Unwrap() error { return e.Err }
