package schedule

import (
	"fmt"
	"strconv"
	"strings"
)

// fields is a cron line as sets of bits.
type fields struct {
	minute, hour, dom, month, dow uint64
	anyDom, anyDow                bool // the line leaves the days open
	text                          [5]string
}

// field is one of the five: its name, its bounds and the words it knows.
type field struct {
	name        string
	least, most int
	words       []string // of least, least+1, …
}

func cronFields() [5]field {
	return [5]field{
		{"minute", 0, 59, nil},
		{"hour", 0, 23, nil},
		{"day of month", 1, 31, nil},
		{"month", 1, 12, []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
		{"day of week", 0, 7, []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
	}
}

// parseCron reads five fields of *, numbers, names, ranges, steps and lists.
func parseCron(line string) (fields, error) {
	var f fields
	parts := strings.Fields(line)
	if len(parts) != 5 {
		return f, fmt.Errorf("cron %q has %d fields; five were expected: minute, hour, day of month, month, day of week", line, len(parts))
	}
	sets := [5]*uint64{&f.minute, &f.hour, &f.dom, &f.month, &f.dow}
	for i, kind := range cronFields() {
		set, err := kind.parse(parts[i])
		if err != nil {
			return f, fmt.Errorf("cron %q: %w", line, err)
		}
		*sets[i], f.text[i] = set, kind.portable(parts[i], set)
	}
	f.anyDom, f.anyDow = strings.HasPrefix(parts[2], "*"), strings.HasPrefix(parts[4], "*")
	if f.dow&(1<<7) != 0 { // 7 is Sunday too
		f.dow = f.dow&^(1<<7) | 1
	}
	if !f.everComes() {
		return f, fmt.Errorf("cron %q never comes: no such day in any of its months", line)
	}
	return f, nil
}

func (k field) parse(text string) (uint64, error) {
	var set uint64
	for _, item := range strings.Split(text, ",") {
		bits, err := k.item(item)
		if err != nil {
			return 0, err
		}
		set |= bits
	}
	return set, nil
}

// portable is a field's text as every cron takes it: most know no step after a
// single number.
func (k field) portable(text string, set uint64) string {
	for item := range strings.SplitSeq(text, ",") {
		if body, _, stepped := strings.Cut(item, "/"); stepped && body != "*" && !strings.Contains(body, "-") {
			return numbers(set, k.least, k.most, "%d")
		}
	}
	return text
}

// numbers are the members of a set, as a list.
func numbers(set uint64, least, most int, format string) string {
	var all []string
	for n := least; n <= most; n++ {
		if set&(1<<n) != 0 {
			all = append(all, fmt.Sprintf(format, n))
		}
	}
	return strings.Join(all, ",")
}

// item is one of a list: a value, a range or *, with a step.
func (k field) item(text string) (uint64, error) {
	body, stepText, stepped := strings.Cut(text, "/")
	step := 1
	if stepped {
		n, err := strconv.Atoi(stepText)
		if err != nil || n < 1 || n > k.most {
			return 0, fmt.Errorf("%s: the step of %q must be from 1 to %d", k.name, text, k.most)
		}
		step = n
	}
	first, last, err := k.bounds(body, stepped)
	if err != nil {
		return 0, err
	}
	if first > last {
		return 0, fmt.Errorf("%s: the range %q ends before it begins", k.name, body)
	}
	var set uint64
	for n := first; n <= last; n += step {
		set |= 1 << n
	}
	return set, nil
}

// bounds are the first and last value of an item without its step.
func (k field) bounds(body string, stepped bool) (first, last int, err error) {
	if body == "*" {
		return k.least, min(k.most, k.least+k.count()-1), nil
	}
	from, to, isRange := strings.Cut(body, "-")
	if first, err = k.value(from); err != nil {
		return 0, 0, err
	}
	switch {
	case isRange:
		last, err = k.value(to)
	case stepped: // 5/10 is 5-59/10
		last = k.most
	default:
		last = first
	}
	return first, last, err
}

// count is how many values there are: 7 as another name of Sunday is none.
func (k field) count() int {
	if k.name == "day of week" {
		return 7
	}
	return k.most - k.least + 1
}

func (k field) value(text string) (int, error) {
	for i, word := range k.words {
		if strings.EqualFold(text, word) {
			return k.least + i, nil
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < k.least || n > k.most || text[0] == '+' {
		return 0, fmt.Errorf("%s: %q must be from %d to %d%s", k.name, text, k.least, k.most, k.orWords())
	}
	return n, nil
}

func (k field) orWords() string {
	if len(k.words) == 0 {
		return ""
	}
	return ", or " + k.words[0] + " to " + k.words[len(k.words)-1]
}

// everComes tells whether some month of the line has a day of the line.
func (f fields) everComes() bool {
	if !f.anyDow {
		return true // a weekday comes in every month
	}
	days := [13]int{0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}
	for m := 1; m <= 12; m++ {
		if f.month&(1<<m) != 0 && f.dom&(1<<(days[m]+1)-2) != 0 {
			return true
		}
	}
	return false
}

// onDay tells whether a day is one of the line's. As in cron, where both the
// day of the month and the day of the week are named, one of them suffices.
func (f fields) onDay(month, dom, dow int) bool {
	if f.month&(1<<month) == 0 {
		return false
	}
	inMonth, inWeek := f.dom&(1<<dom) != 0, f.dow&(1<<dow) != 0
	if f.anyDom || f.anyDow {
		return inMonth && inWeek
	}
	return inMonth || inWeek
}

// everyHour tells whether the line leaves the hour open. Such a line runs in an
// hour that a clock change repeats a second time.
func (f fields) everyHour() bool { return f.hour == 1<<24-1 }
