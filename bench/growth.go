package main

import "fmt"

// The sizes of the growth rows, and of the case that they are compared with.
const (
	manyRecords = 100_000
	manySteps   = 10_000
	manyRuns    = 1_000
	fewSteps    = 10
	perFew      = fewSteps - 2 // how often a mission of fewSteps is advanced
)

func growthRows(b *bed) ([]row, error) {
	var programs []*program
	for _, make := range []func(*bed) (*program, error){smallGrowth, recordsGrowth, stepsGrowth, runsGrowth} {
		p, err := make(b)
		if err != nil {
			return nil, err
		}
		programs = append(programs, p)
	}
	flush()
	if err := b.rounds(b.opts.rounds, programs...); err != nil {
		return nil, err
	}
	small := programs[0]
	var rows []row
	for _, p := range programs[1:] {
		rows = append(rows, row{Group: "growth", What: p.name, Value: p.in(small), Unit: "x", Bar: 1.5, Kind: atMost,
			Detail: fmt.Sprintf("%.2f ms, small case %.2f ms", p.median(), small.median())})
	}
	return rows, nil
}

// calls is how often a program will be started in one group of rows.
func (b *bed) calls() int { return b.opts.rounds + warmups }

// nextCalls is how often `next` without a plugin will be, in all groups.
func (b *bed) nextCalls() int { return 4 * b.calls() }

// smallGrowth is ten steps, one run, hardly a record; a project serves a few
// calls.
func smallGrowth(b *bed) (*program, error) {
	projects := make([]*project, b.calls()/perFew+1)
	for i := range projects {
		var err error
		if projects[i], err = b.makeProject(fmt.Sprintf("small-%d", i), smallConfig(plainType), missionType{name: plainType, steps: fewSteps}); err != nil {
			return nil, err
		}
		if err := projects[i].start(b.ctx, plainSlug(0), plainType); err != nil {
			return nil, err
		}
	}
	p, err := b.nextProgram("small case", projects[0], func(int) string { return plainSlug(0) })
	if err != nil {
		return nil, err
	}
	p.args = func(n int) []string { return nextArgs(projects[n/perFew], plainSlug(0), agent) }
	return p, nil
}

func recordsGrowth(b *bed) (*program, error) {
	b.say("making %d records", manyRecords)
	p, err := b.makeProject("records", smallConfig(plainType), missionType{name: plainType, steps: b.calls() + fewSteps})
	if err != nil {
		return nil, err
	}
	if err := p.start(b.ctx, plainSlug(0), plainType); err != nil {
		return nil, err
	}
	if err := p.lengthen(b.ctx, plainSlug(0), plainType, manyRecords, handAround); err != nil {
		return nil, err
	}
	if err := p.report(b.ctx, plainSlug(0)); err != nil { // makes the view
		return nil, err
	}
	return b.nextProgram("100,000 records", p, func(int) string { return plainSlug(0) })
}

func stepsGrowth(b *bed) (*program, error) {
	b.say("making %d steps", manySteps)
	p, err := b.makeProject("steps", smallConfig(plainType), missionType{name: plainType, steps: manySteps})
	if err != nil {
		return nil, err
	}
	if err := p.start(b.ctx, plainSlug(0), plainType); err != nil {
		return nil, err
	}
	if err := p.lengthen(b.ctx, plainSlug(0), plainType, manySteps/2, skip); err != nil {
		return nil, err
	}
	if err := p.report(b.ctx, plainSlug(0)); err != nil {
		return nil, err
	}
	return b.nextProgram("10,000 steps, half done", p, func(int) string { return plainSlug(0) })
}

func runsGrowth(b *bed) (*program, error) {
	b.say("making %d runs", manyRuns)
	p, err := b.makeProject("runs", smallConfig(plainType), missionType{name: plainType, steps: fewSteps})
	if err != nil {
		return nil, err
	}
	if err := b.startMany(p, plainType, plainSlug, manyRuns, perFew); err != nil {
		return nil, err
	}
	return b.nextProgram("1,000 runs", p, func(n int) string { return plainSlug(n / perFew) })
}
