package durable

// Shared names the kind of mount that path lies on if it is a network or
// shared one, where locks and syncs may not hold; else it is "". Where that
// cannot be told it is "".
func Shared(path string) string { return shared(path) }
