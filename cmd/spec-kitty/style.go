package main

import "os"

// style marks words on a terminal, and nowhere else.
type style struct{ on bool }

func (a *app) style() style {
	return style{on: a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb" && isTerminal(a.out)}
}

func (s style) bold(text string) string { return s.mark("1", text) }

func (s style) red(text string) string { return s.mark("31", text) }

func (s style) mark(code, text string) string {
	if !s.on {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// isTerminal tells whether a stream is a terminal.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && terminal(file.Fd())
}
