package schedule

import (
	"fmt"
	"strings"
)

func printCron(j Job, f fields) Printed {
	return Printed{
		Units: []Unit{{"crontab", block(j.UID, j.Loop, cronLine(j, f), false)}},
		Notes: []string{
			"cron loses the times at which the machine is off or asleep",
			"cron knows no time limit: the loop's own limits end a tick that is stuck",
		},
	}
}

// cronLine is the one line: the folder, PATH and the outputs are part of the
// command, as cron's own are bare. A percent sign would end the command.
func cronLine(j Job, f fields) string {
	words := []string{shell(j.Program)}
	for _, arg := range j.Args {
		words = append(words, shell(arg))
	}
	command := "cd " + shell(j.Dir) + " && PATH=" + shell(j.Path) + " exec " + strings.Join(words, " ")
	if j.Log != "" {
		command += " >>" + shell(j.Log) + " 2>&1"
	}
	return strings.Join(f.text[:], " ") + " " + strings.ReplaceAll(command, "%", `\%`)
}

// shell is a word that a POSIX shell leaves as it is.
func shell(word string) string {
	safe := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("/._-+:,@", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !safe(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// MarksError says that a crontab's marks are not as they were written: what
// belongs to whom cannot be told, so it is left alone.
type MarksError struct {
	Line int // from 1
	Why  string
}

func (e *MarksError) Error() string {
	return fmt.Sprintf("crontab line %d: %s; nothing was changed: set the lines that begin with %q and %q right, or delete them with what is between (crontab -e)",
		e.Line, e.Why, beginMark, endMark)
}

const (
	beginMark = "# BEGIN spec-kitty loop "
	endMark   = "# END spec-kitty loop "
	joined    = " (ended the line before)"
)

// block is a loop's part of a crontab. Where the crontab's last line had no end,
// the mark says that it got one, so that removing the part takes it away again.
func block(uid, name, line string, ended bool) string {
	mark := uid + " " + name
	begin := beginMark + mark
	if ended {
		begin += joined
	}
	return begin + "\n" + line + "\n" + endMark + mark + "\n"
}

// Insert puts a loop's part into a crontab: in its old place, else at the end.
// part is what Print gave. Foreign lines stay as they are, byte for byte.
func Insert(crontab, part string) (string, error) {
	uid, name, line, err := parts(part)
	if err != nil {
		return "", err
	}
	at, err := find(crontab, uid)
	switch {
	case err != nil:
		return "", err
	case at != nil:
		return crontab[:at.from] + block(uid, name, line, at.ended) + crontab[at.to:], nil
	case crontab != "" && !strings.HasSuffix(crontab, "\n"):
		return crontab + "\n" + block(uid, name, line, true), nil
	}
	return crontab + block(uid, name, line, false), nil
}

// Remove takes a loop's part out of a crontab; what is left is what was there
// before it was put in. Without such a part the crontab comes back as it is.
func Remove(crontab, uid string) (string, error) {
	at, err := find(crontab, uid)
	if err != nil || at == nil {
		return crontab, err
	}
	before, after := crontab[:at.from], crontab[at.to:]
	switch {
	case at.ended && after == "":
		before = strings.TrimSuffix(before, "\n")
	case at.ended && strings.HasPrefix(after, beginMark): // another loop's part must know it now
		first, rest, _ := strings.Cut(after, "\n")
		after = first + joined + "\n" + rest
	}
	return before + after, nil
}

// Installed is a loop's part of a crontab as it is there; "" where it is not.
func Installed(crontab, uid string) (string, error) {
	at, err := find(crontab, uid)
	if err != nil || at == nil {
		return "", err
	}
	return strings.Replace(crontab[at.from:at.to], joined+"\n", "\n", 1), nil
}

// parts takes apart what block made.
func parts(part string) (uid, name, line string, err error) {
	lines := strings.Split(part, "\n")
	if len(lines) != 4 || !strings.HasPrefix(lines[0], beginMark) {
		return "", "", "", fmt.Errorf("not a loop's part of a crontab: %q", part)
	}
	uid, name, _ = strings.Cut(strings.TrimPrefix(lines[0], beginMark), " ")
	return uid, name, lines[1], nil
}

// place is where a loop's part lies in a crontab, in bytes.
type place struct {
	from, to int
	ended    bool // the line before it got its end from us
}

// find looks for a loop's part, and at all marks on the way: they must come in
// pairs, none inside another, each loop once.
func find(crontab, uid string) (*place, error) {
	var found *place
	seen := map[string]bool{}
	open, from, offset, n := "", 0, 0, 0
	for line := range strings.SplitAfterSeq(crontab, "\n") {
		n++
		text := strings.TrimRight(line, "\r\n")
		isBegin, isEnd := strings.HasPrefix(text, beginMark), strings.HasPrefix(text, endMark)
		id, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(text, beginMark), endMark), " ")
		switch {
		case isBegin && open != "":
			return nil, &MarksError{n, "the part of loop " + id + " begins inside that of " + open}
		case isBegin && seen[id]:
			return nil, &MarksError{n, "the part of loop " + id + " is there twice"}
		case isBegin:
			open, from, seen[id] = id, offset, true
		case isEnd && (open == "" || open != id):
			return nil, &MarksError{n, "the part of loop " + id + " ends and did not begin"}
		case isEnd && id == uid:
			found = &place{from, offset + len(line), strings.HasSuffix(firstLine(crontab[from:]), joined)}
		}
		if isEnd {
			open = ""
		}
		offset += len(line)
	}
	if open != "" {
		return nil, &MarksError{n, "the part of loop " + open + " does not end"}
	}
	return found, nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimRight(line, "\r")
}
