package config

import (
	"fmt"
	"time"
)

// typed reads a key of one type; the second result is false where it is missing
// or, which is a problem then, of another type.
func typed[T any](t *table, key, wanted string) (T, bool) {
	value, ok := t.get(key)
	if !ok {
		var none T
		return none, false
	}
	of, ok := value.(T)
	if !ok {
		t.wrong(key, "%s was expected, not %s", wanted, typeName(value))
	}
	return of, ok
}

func (t *table) text(key string) string {
	text, _ := typed[string](t, key, "text in quotes")
	return text
}

func (t *table) flag(key string) bool {
	flag, _ := typed[bool](t, key, "true or false")
	return flag
}

func (t *table) number(key string) (int64, bool) {
	return typed[int64](t, key, "a whole number")
}

// numberIn is a number with bounds; absent where it is missing or outside.
func (t *table) numberIn(key string, least, most, absent int64) int64 {
	n, ok := t.number(key)
	switch {
	case !ok:
		return absent
	case n < least || n > most:
		t.wrong(key, "must be from %d to %d, not %d", least, most, n)
		return absent
	}
	return n
}

// texts is a list of texts; nil where it is missing or empty, as a frozen
// definition has it. What is no text is empty, so that each keeps its place.
func (t *table) texts(key string) []string {
	var texts []string
	t.eachText(key, func(i int, text string) {
		for len(texts) < i {
			texts = append(texts, "")
		}
		texts = append(texts, text)
	})
	return texts
}

// eachText visits the texts of a list.
func (t *table) eachText(key string, visit func(i int, text string)) {
	value, ok := t.get(key)
	if !ok {
		return
	}
	items, ok := value.([]any)
	if !ok {
		t.wrong(key, "a list of texts was expected, not %s", typeName(value))
		return
	}
	for i, item := range items {
		if text, ok := item.(string); ok {
			visit(i, text)
		} else {
			t.read.add(t.item(key, i), "", "text in quotes was expected, not %s", typeName(item))
		}
	}
}

func typeName(value any) string {
	switch value.(type) {
	case string:
		return "text"
	case bool:
		return "true or false"
	case int64:
		return "a whole number"
	case float64:
		return "a number with a fraction"
	case time.Time:
		return "a date or time"
	case []any, []map[string]any:
		return "a list"
	case map[string]any:
		return "a table"
	}
	return fmt.Sprintf("%T", value)
}
