// Package own tells whether a file or folder is this user's alone. What others could
// write to is relied on for nothing: neither for consents nor for code that was
// compiled. All functions may be called concurrently.
package own
