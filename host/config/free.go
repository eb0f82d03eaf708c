package config

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// free is a table whose keys are the author's own (with, metadata). Its values
// become what JSON has: text, json.Number, bool, list and table, so that a
// frozen definition reads back as the same value. Dates become the text they
// were written as.
func (t *table) free(key string) map[string]any {
	values, ok := typed[map[string]any](t, key, "a table")
	if !ok || len(values) == 0 {
		return nil
	}
	free := make(map[string]any, len(values))
	for _, name := range sortedKeys(values) {
		free[name] = t.value(t.at(key)+"."+quoted(name), values[name])
	}
	return free
}

func (t *table) value(path string, value any) any {
	switch v := value.(type) {
	case int64:
		return json.Number(strconv.FormatInt(v, 10))
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			t.read.add(path, "", "%v cannot be passed on: plugins are given JSON, which has no such number", v)
			return nil
		}
		number, _ := json.Marshal(v) // finite, so it has a form
		return json.Number(number)
	case time.Time:
		return dateText(v)
	case map[string]any:
		table := make(map[string]any, len(v))
		for _, name := range sortedKeys(v) {
			table[name] = t.value(path+"."+quoted(name), v[name])
		}
		return table
	case []any:
		return listOf(t, path, v)
	case []map[string]any:
		return listOf(t, path, v)
	}
	return value
}

func listOf[T any](t *table, path string, items []T) []any {
	list := make([]any, len(items))
	for i, item := range items {
		list[i] = t.value(fmt.Sprintf("%s[%d]", path, i), item)
	}
	return list
}

// dateText is a date as TOML has it. The library marks those without an offset
// by the name of their zone.
func dateText(v time.Time) string {
	switch v.Location().String() {
	case "datetime-local":
		return v.Format("2006-01-02T15:04:05.999999999")
	case "date-local":
		return v.Format(time.DateOnly)
	case "time-local":
		return v.Format("15:04:05.999999999")
	}
	return v.Format(time.RFC3339Nano)
}
