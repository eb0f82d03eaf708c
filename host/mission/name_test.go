package mission

import (
	"strings"
	"testing"
)

func TestCheckName(t *testing.T) {
	good := []string{"a", "A1", "034-pay-by-link", "software-dev", "v1.2_3", "nully", "com10", "lpt", "console", "com", "WP01", strings.Repeat("x", 100)}
	for _, name := range good {
		if err := CheckName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	bad := map[string]string{
		"":                       `a name may not be empty`,
		"-x":                     `the name "-x" must start with a letter or digit`,
		".":                      `the name "." must start with a letter or digit`,
		"..":                     `the name ".." must start with a letter or digit`,
		"a/b":                    `the name "a/b" may hold only letters, digits, -, _ and ., not '/'`,
		"a b":                    `the name "a b" may hold only letters, digits, -, _ and ., not ' '`,
		"äb":                     `the name "äb" must start with a letter or digit`,
		"bä":                     `the name "bä" may hold only letters, digits, -, _ and ., not 'ä'`,
		"a\n":                    `the name "a\n" may hold only letters, digits, -, _ and ., not '\n'`,
		"a\xff":                  `the name "a\xff" may hold only letters, digits, -, _ and ., not '�'`,
		"a.":                     `the name "a." may not end with a dot`,
		"NUL":                    `the name "NUL" is reserved for a device on Windows`,
		"con.txt":                `the name "con.txt" is reserved for a device on Windows`,
		"com1":                   `the name "com1" is reserved for a device on Windows`,
		"Lpt9.a.b":               `the name "Lpt9.a.b" is reserved for a device on Windows`,
		strings.Repeat("x", 101): `the name "xxxxxxxxxxxxxxxxxxxx"… is longer than 100 characters`,
	}
	for name, want := range bad {
		if err := CheckName(name); err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", name, err, want)
		}
	}
}

func TestCheckInputKey(t *testing.T) {
	for key, ok := range map[string]bool{"db": true, "A_1": true, "_x": true, "1": true, "": false, "a-b": false, "a.b": false, "é": false, strings.Repeat("k", 101): false} {
		if err := CheckInputKey(key); (err == nil) != ok {
			t.Errorf("%q: %v", key, err)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"guards", "depends_on", "id", "retry", "title"}
	for name, want := range map[string]string{
		"gaurds": "guards", "depend_on": "depends_on", "dependson": "depends_on", "Retry": "retry", "retris": "retry", "retries": "",
		"titel": "title", "di": "id", "ix": "id", "frobnicate": "", "": "", strings.Repeat("x", 1000): "",
	} {
		if got := Nearest(name, known); got != want {
			t.Errorf("nearest to %q is %q, want %q", name, got, want)
		}
	}
}
