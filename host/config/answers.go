package config

import "fmt"

// maxAnswers is the greatest size of a file of answers, in bytes.
const maxAnswers = 1 << 20

// LoadAnswers reads a file of answers for a simulated run: TOML whose keys are
// decision ids or inputs, each with a text, or with a list of texts for one
// asking after the other. If anything in it is wrong the error is an
// *InvalidError; a file that cannot be opened is an error of the system.
func LoadAnswers(file string) (map[string][]string, error) {
	data, err := readFile(file, maxAnswers)
	if err != nil {
		return nil, fmt.Errorf("answers: %w", err)
	}
	src, values, err := parse(file, data)
	if err != nil {
		return nil, err
	}
	r := &reading{file: file}
	t := r.root(values)
	answers := map[string][]string{}
	for _, key := range sortedKeys(values) {
		switch value := values[key].(type) {
		case string:
			answers[key] = []string{value}
		case []any:
			answers[key] = t.texts(key)
		default:
			t.wrong(key, "text in quotes, or a list of texts, was expected, not %s", typeName(value))
		}
	}
	if len(r.problems) > 0 {
		return nil, src.invalid(r)
	}
	return answers, nil
}
