package guest

import "unicode/utf8"

// writer puts commas and escapes. Text that is not UTF-8 is written with U+FFFD
// in place of each bad byte: what it makes is always JSON.
type writer struct {
	b     []byte
	comma bool
}

func (w *writer) value() {
	if w.comma {
		w.b = append(w.b, ',')
	}
	w.comma = true
}

func (w *writer) open(bracket byte) {
	w.value()
	w.b = append(w.b, bracket)
	w.comma = false
}

func (w *writer) close(bracket byte) {
	w.b = append(w.b, bracket)
	w.comma = true
}

func (w *writer) raw(json string) {
	w.value()
	w.b = append(w.b, json...)
}

func (w *writer) key(name string) {
	w.text(name)
	w.b = append(w.b, ':')
	w.comma = false
}

func (w *writer) member(key, value string) {
	w.key(key)
	w.text(value)
}

func (w *writer) optional(key, value string) {
	if value != "" {
		w.member(key, value)
	}
}

func (w *writer) list(key string, all []string) {
	if len(all) == 0 {
		return
	}
	w.key(key)
	w.open('[')
	for _, text := range all {
		w.text(text)
	}
	w.close(']')
}

func (w *writer) objects(key string, n int, members func(int)) {
	if n == 0 {
		return
	}
	w.key(key)
	w.open('[')
	for i := range n {
		w.open('{')
		members(i)
		w.close('}')
	}
	w.close(']')
}

func (w *writer) text(s string) {
	w.value()
	w.b = append(w.b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			w.b = append(w.b, '\\', byte(r))
		case r == '\n':
			w.b = append(w.b, '\\', 'n')
		case r < 0x20 || r == 0x7f:
			const hex = "0123456789abcdef"
			w.b = append(w.b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			w.b = utf8.AppendRune(w.b, r)
		}
	}
	w.b = append(w.b, '"')
}
