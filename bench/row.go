package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"
)

// row is one promise and what was measured.
type row struct {
	Group  string  `json:"group"`
	What   string  `json:"what"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"` // "F" the floor, "E" an empty program, "x" a bare ratio, "ms", ""
	Bar    float64 `json:"bar"`
	Kind   bar     `json:"kind"`
	OK     bool    `json:"ok"`
	Detail string  `json:"detail,omitempty"`
}

// bar says on which side of the bar the value must lie.
type bar string

const (
	atMost  bar = "at most"
	atLeast bar = "at least"
	exactly bar = "exactly"
	noBar   bar = "" // shown only
)

// judged fills in OK.
func (r row) judged() row {
	switch r.Kind {
	case atMost:
		r.OK = r.Value <= r.Bar
	case atLeast:
		r.OK = r.Value >= r.Bar
	case exactly:
		r.OK = r.Value == r.Bar
	case noBar:
		r.OK = true
	}
	return r
}

// table is what the benchmark prints.
type table struct {
	Disk   string `json:"disk"`
	Rounds int    `json:"rounds"`
	Rows   []row  `json:"rows"`
}

func (t table) missed() bool {
	for _, r := range t.Rows {
		if !r.OK {
			return true
		}
	}
	return false
}

func (t table) print(out io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(t)
	}
	fmt.Fprintf(out, "%d rounds on %s, %d cores, %s. F = floor, E = empty Go program.\n\n",
		t.Rounds, t.Disk, runtime.NumCPU(), runtime.Version())
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, r := range t.Rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.Group, r.What, r.value(), r.limit(), r.verdict(), r.Detail)
	}
	return w.Flush()
}

func (r row) value() string {
	if r.Kind == exactly {
		return fmt.Sprintf("%g%s", r.Value, r.unit())
	}
	return fmt.Sprintf("%.2f%s", r.Value, r.unit())
}

func (r row) unit() string {
	if r.Unit == "" {
		return ""
	}
	return " " + r.Unit
}

func (r row) limit() string {
	if r.Kind == noBar {
		return ""
	}
	return fmt.Sprintf("%s %g%s", r.Kind, r.Bar, r.unit())
}

func (r row) verdict() string {
	switch {
	case r.Kind == noBar:
		return ""
	case r.OK:
		return "ok"
	}
	return "MISSED"
}
