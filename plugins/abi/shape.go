package abi

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// fits checks a parsed value against the JSON form of a Go type, since
// encoding/json alone would take keys in any letter case, null for anything and
// keys that nobody knows.
func fits(v any, t reflect.Type, where string) error {
	if t == reflect.TypeFor[json.RawMessage]() {
		return want[map[string]any](v, "an object", where)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return fits(v, t.Elem(), where)
	case reflect.Struct:
		return fitsStruct(v, t, where)
	case reflect.Map:
		return fitsMap(v, t, where)
	case reflect.Slice:
		return fitsList(v, t, where)
	case reflect.String:
		return fitsText(v, t, where)
	case reflect.Int:
		return fitsInt(v, where)
	default:
		return &AnswerError{Where: where, Why: "this kind of field is not known"}
	}
}

func fitsStruct(v any, t reflect.Type, where string) error {
	if err := want[map[string]any](v, "an object", where); err != nil {
		return err
	}
	known := fieldsOf(t)
	for _, key := range sortedKeys(v.(map[string]any)) {
		field, ok := known[key]
		if !ok {
			return &AnswerError{Where: join(where, key), Why: "this key is not known here; known are " + strings.Join(sortedKeys(known), ", ")}
		}
		if err := fits(v.(map[string]any)[key], field, join(where, key)); err != nil {
			return err
		}
	}
	return nil
}

// lacks names the first key that is missing, of those that an object of its kind always
// has: encoding/json takes one that is left out for an empty text, and an artifact whose
// content was forgotten would empty the file that it is put in place of.
func lacks(v any, t reflect.Type, where string) error {
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			if err := lacks(item, t.Elem(), fmt.Sprintf("%s[%d]", where, i)); err != nil {
				return err
			}
		}
	case map[string]any:
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() == reflect.Struct {
			return lacksKey(v, t, where)
		}
	}
	return nil
}

func lacksKey(object map[string]any, t reflect.Type, where string) error {
	for i := range t.NumField() {
		key, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		value, there := object[key]
		switch {
		case !there && options == "":
			return &AnswerError{Where: join(where, key), Why: "is missing"}
		case there:
			if err := lacks(value, t.Field(i).Type, join(where, key)); err != nil {
				return err
			}
		}
	}
	return nil
}

func fitsMap(v any, t reflect.Type, where string) error {
	if err := want[map[string]any](v, "an object", where); err != nil {
		return err
	}
	m := v.(map[string]any)
	for _, key := range sortedKeys(m) {
		if err := fits(m[key], t.Elem(), join(where, key)); err != nil {
			return err
		}
	}
	return nil
}

func fitsList(v any, t reflect.Type, where string) error {
	if err := want[[]any](v, "a list", where); err != nil {
		return err
	}
	items := v.([]any)
	if len(items) > MaxItems {
		return &AnswerError{Where: where, Why: fmt.Sprintf("has %d items, at most %d are allowed", len(items), MaxItems)}
	}
	for i, item := range items {
		if err := fits(item, t.Elem(), fmt.Sprintf("%s[%d]", where, i)); err != nil {
			return err
		}
	}
	return nil
}

// fitsText refuses an empty text where one of several words belongs: encoding/json
// takes it for a key that is left out.
func fitsText(v any, t reflect.Type, where string) error {
	if v == "" && t != reflect.TypeFor[string]() {
		return &AnswerError{Where: where, Why: "is empty: leave the key out, or write one of its words"}
	}
	return want[string](v, "a text", where)
}

func fitsInt(v any, where string) error {
	n, ok := v.(json.Number)
	if !ok {
		return want[json.Number](v, "a number", where)
	}
	if i, err := n.Int64(); err != nil || i < -1<<31 || i > 1<<31-1 {
		return &AnswerError{Where: where, Why: "must be a whole number"}
	}
	return nil
}

func want[T any](v any, what, where string) error {
	if _, ok := v.(T); ok {
		return nil
	}
	return &AnswerError{Where: where, Why: fmt.Sprintf("must be %s, not %s", what, kindOf(v))}
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null; leave the key out"
	case string:
		return "a text"
	case bool:
		return "true or false"
	case json.Number:
		return "a number"
	case []any:
		return "a list"
	default:
		return "an object"
	}
}

func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := make(map[string]reflect.Type, t.NumField())
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		fields[name] = t.Field(i).Type
	}
	return fields
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
