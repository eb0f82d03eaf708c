package lanes

import (
	"encoding/json"
	"iter"
)

// fields walks the top level of a JSON object that json.Valid has accepted: each
// key as written between its quotes, and the bytes of its value. Decoding whole
// lines by reflection took several times as long as a whole call of next may.
func fields(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		at := 1 + blanks(object[1:])
		for at < len(object) && object[at] == '"' {
			end := at + valueLen(object[at:])
			key := object[at+1 : end-1]
			at = end + blanks(object[end:]) + 1 // the colon
			at += blanks(object[at:])
			end = at + valueLen(object[at:])
			if !yield(string(key), object[at:end]) {
				return
			}
			at = end + blanks(object[end:]) + 1 // a comma or the end
			at += blanks(object[min(at, len(object)):])
		}
	}
}

func blanks(text []byte) int {
	for i, b := range text {
		if b != ' ' && b != '\n' && b != '\t' && b != '\r' {
			return i
		}
	}
	return len(text)
}

// valueLen is the length of the JSON value that valid text begins with.
func valueLen(text []byte) int {
	switch text[0] {
	case '"':
		return stringLen(text)
	case '{', '[':
		return nestedLen(text)
	}
	for i, b := range text {
		switch b {
		case ',', ']', '}', ' ', '\t', '\r', '\n':
			return i
		}
	}
	return len(text)
}

func stringLen(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

func nestedLen(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i += stringLen(text[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

// textOf is the text of a JSON string; ok is false for every other value.
func textOf(value []byte) (text string, ok bool) {
	if len(value) < 2 || value[0] != '"' {
		return "", false
	}
	if inner := value[1 : len(value)-1]; isPlain(inner) {
		return string(inner), true
	}
	return text, json.Unmarshal(value, &text) == nil
}

// isPlain spares json's care for escapes and broken UTF-8.
func isPlain(text []byte) bool {
	for _, b := range text {
		if b >= 0x80 || b == '\\' {
			return false
		}
	}
	return true
}

// valueOf is the value that an object has under a key, the last one where it has
// several; nil where it has none, or is no object.
func valueOf(object []byte, key string) (value []byte) {
	if len(object) == 0 || object[0] != '{' {
		return nil
	}
	for k, v := range fields(object) {
		if k == key {
			value = v
		}
	}
	return value
}

// field is valueOf as text; "" where it is none.
func field(object []byte, key string) string {
	text, _ := textOf(valueOf(object, key))
	return text
}

// isTrue tells whether an object's value under a key is true.
func isTrue(object []byte, key string) bool { return string(valueOf(object, key)) == "true" }
