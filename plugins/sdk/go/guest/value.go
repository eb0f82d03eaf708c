package guest

import (
	"errors"
	"strconv"
)

// Kind is what a JSON value is.
type Kind int

// The kinds. Absent is that of the zero Value.
const (
	Absent Kind = iota
	Null
	Bool
	Number
	Text
	Array
	Object
)

// Value is a JSON value that was read, or none. Asking it for what it is not
// gives nothing, so that v.Get("a").Get("b").Text() needs no checks in between.
type Value struct {
	kind  Kind
	text  string // of a text; of a number its digits; "true" or "false"
	keys  []string
	items []Value
}

// Kind is what the value is.
func (v Value) Kind() Kind { return v.kind }

// Get is a member of an object; of two with one key the first.
func (v Value) Get(key string) Value {
	for i, k := range v.keys {
		if k == key {
			return v.items[i]
		}
	}
	return Value{}
}

// Keys are the keys of an object, in their order.
func (v Value) Keys() []string { return v.keys }

// Items are the values of an array or object, in their order.
func (v Value) Items() []Value { return v.items }

// Text is the text of a string.
func (v Value) Text() (string, bool) { return v.text, v.kind == Text }

// Bool is a truth value.
func (v Value) Bool() (bool, bool) { return v.text == "true", v.kind == Bool }

// Int is a whole number that fits an int; 1.0 and 1e3 are none.
func (v Value) Int() (int, bool) {
	if v.kind != Number {
		return 0, false
	}
	n, err := strconv.Atoi(v.text)
	return n, err == nil
}

// Only refuses settings that the plugin does not have: they would have no effect.
func (v Value) Only(known ...string) error {
	if v.kind != Object && v.kind != Absent {
		return errors.New("`with` must be an object")
	}
	for _, key := range v.keys {
		found := false
		for _, k := range known {
			found = found || k == key
		}
		if !found {
			return errors.New("`with` has no setting " + strconv.Quote(key))
		}
	}
	return nil
}

// TextOr is a setting that is a text, or what holds without it.
func (v Value) TextOr(key, without string) (string, error) {
	set := v.Get(key)
	if set.kind == Absent {
		return without, nil
	}
	t, ok := set.Text()
	if !ok || t == "" {
		return "", errors.New("the setting " + key + " in `with` must be a text")
	}
	return t, nil
}

// TextsOr is a setting that is a list of texts, or what holds without it.
func (v Value) TextsOr(key string, without []string) ([]string, error) {
	set := v.Get(key)
	if set.kind == Absent {
		return without, nil
	}
	all := texts(set)
	if set.kind != Array || len(all) != len(set.items) {
		return nil, errors.New("the setting " + key + " in `with` must be a list of texts")
	}
	return all, nil
}
