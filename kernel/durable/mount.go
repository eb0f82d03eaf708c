package durable

// Shared names the kind of mount that path lies on if it is a network or
// shared one, where locks and syncs may not hold; else it is "". Where that
// cannot be told it is "".
func Shared(path string) string { return shared(path) }

// Kind names the file system that path lies on, as far as that can be told:
// "ext", "xfs", "tmpfs", one of the kinds of Shared, or a number; "" where the
// system does not say.
func Kind(path string) string { return kind(path) }
