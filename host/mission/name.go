package mission

import (
	"fmt"
	"strings"
)

// MaxName is the greatest length of a name, in bytes.
const MaxName = 100

// CheckName is the one rule for slugs and for the ids of steps, packages,
// plugins, commands, loops and decisions: letters, digits, "-", "_" and "."
// of ASCII, a letter or digit first, no "." last, at most MaxName bytes, and
// none of the names that Windows keeps for devices. So every name can be a
// file's or folder's name everywhere. The error says what is wrong with it.
//
// Names that differ only in letter case clash (see Fold); that is for whoever
// sees all of them to find.
func CheckName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("a name may not be empty")
	case len(name) > MaxName:
		return fmt.Errorf("the name %.20q… is longer than %d characters", name, MaxName)
	}
	for i, r := range name {
		if !letterOrDigit(r) && !(i > 0 && (r == '-' || r == '_' || r == '.')) {
			return badRune(name, r, i)
		}
	}
	if strings.HasSuffix(name, ".") {
		return fmt.Errorf("the name %q may not end with a dot", name)
	}
	if Device(name) {
		return fmt.Errorf("the name %q is reserved for a device on Windows", name)
	}
	return nil
}

// CheckInputKey is the rule for input keys: letters, digits and "_" of ASCII,
// at most MaxName, so that a template can say .Inputs.KEY.
func CheckInputKey(key string) error {
	switch {
	case key == "":
		return fmt.Errorf("an input key may not be empty")
	case len(key) > MaxName:
		return fmt.Errorf("the input key %.20q… is longer than %d characters", key, MaxName)
	}
	for _, r := range key {
		if !letterOrDigit(r) && r != '_' {
			return fmt.Errorf("the input key %q may hold only letters, digits and _, not %q", key, r)
		}
	}
	return nil
}

// Reserved are the words that say where a run as a whole stands: a step by such a
// name, in whatever letter case, could not be told from them.
func Reserved(id string) bool {
	switch Fold(id) {
	case "not_started", "done", "canceled", "aborted", "unknown", "damaged":
		return true
	}
	return false
}

// Fold is the name as file systems that ignore letter case see it: two names
// with one Fold clash.
func Fold(name string) string { return strings.ToLower(name) }

func letterOrDigit(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

func badRune(name string, r rune, at int) error {
	if at == 0 {
		return fmt.Errorf("the name %q must start with a letter or digit", name)
	}
	return fmt.Errorf("the name %q may hold only letters, digits, -, _ and ., not %q", name, r)
}

// Device tells whether a file's name is one that Windows keeps for a device. It
// looks at the part before the first dot: Windows takes nul.md for the device
// too.
func Device(name string) bool {
	base, _, _ := strings.Cut(Fold(name), ".")
	switch base {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(base) == 4 && (base[:3] == "com" || base[:3] == "lpt") && '1' <= base[3] && base[3] <= '9'
}
