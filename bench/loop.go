package main

import "fmt"

// Loops have bars of time, in milliseconds: schedulers fire all loops at once, and a
// person waits for an answer.
const (
	skipBar   = 20
	answerBar = 50
)

// loopRows measures whole processes: ticks that skip, and operators who are
// answered while work goes on.
func loopRows(b *bed) (rows []row, err error) {
	floor, err := b.floorProgram()
	if err != nil {
		return nil, err
	}
	y, err := b.makeYard()
	if err != nil {
		return nil, err
	}
	defer func() { err = y.end(err) }()
	skips := []*program{y.tick("paused"), y.tick("halted"), y.tick("waiting"), y.tick("busy")}
	answers := []*program{
		y.answer("status", 0, "running", "busy"),
		y.answer("approve", 1, "nothing_waiting", "busy", "--id", "x"),
		y.answer("pause", 0, "paused", "beside"),
	}
	old := y.verb("a tick that skips after 10,000 records", 0, "paused", "tick", "long")
	skips = append(skips, old)
	answers = append(answers, y.verb("pause after 10,000 records", 0, "paused", "pause", "steered", "--reason", "x"))
	flush()
	if err := b.rounds(b.opts.rounds, append(append([]*program{floor}, skips...), answers...)...); err != nil {
		return nil, err
	}
	for _, p := range skips {
		rows = append(rows, p.within(skipBar, floor))
	}
	for _, p := range answers {
		rows = append(rows, p.within(answerBar, floor))
	}
	return rows, nil
}

// within is the row of a bar of time.
func (p *program) within(limit float64, floor *program) row {
	return row{Group: "loop", What: p.name, Value: p.median(), Unit: "ms", Bar: limit, Kind: atMost,
		Detail: fmt.Sprintf("%.2f F; 99 of 100 within %.1f ms", p.in(floor), milliseconds(quantile(p.times, 0.99)))}
}
