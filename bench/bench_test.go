package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.ChildMain()
	if len(os.Args) > 1 && os.Args[1] == workerWord {
		exit(workerMain(os.Args[2:]))
	}
	goleak.VerifyTestMain(m)
}

func testBed(t *testing.T) *bed {
	return &bed{ctx: t.Context(), dir: t.TempDir(), log: io.Discard, built: map[string]string{}, opts: options{rounds: 1, quick: true}}
}

func TestLargeConfig(t *testing.T) {
	text := largeConfig(strings.Repeat("0", 64))
	if n := strings.Count(text, "\n"); n != configLines {
		t.Errorf("it has %d lines, wants %d", n, configLines)
	}
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, config.FileName), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(root); err != nil {
		t.Error(err)
	}
}

func TestLengthen(t *testing.T) {
	b := testBed(t)
	p, err := b.makeProject("p", smallConfig(plainType), missionType{name: plainType, steps: fewSteps})
	if err != nil {
		t.Fatal(err)
	}
	slug := plainSlug(0)
	if err := p.start(b.ctx, slug, plainType); err != nil {
		t.Fatal(err)
	}
	const more = 500
	if err := p.lengthen(b.ctx, slug, plainType, more, handAround); err != nil {
		t.Fatal(err)
	}
	if err := p.report(b.ctx, slug); err != nil {
		t.Fatal(err)
	}
	store, err := p.runs(unsynced()).Lookup(b.ctx, slug)
	if err != nil {
		t.Fatal(err)
	}
	r, err := store.Verify(b.ctx)
	if err != nil || len(r.Problems) > 0 || r.View != commit.ViewCurrent || r.Records != 2+more+1 {
		t.Errorf("verify = %+v, %v", r, err)
	}
}

func TestSyncsPerAdvance(t *testing.T) {
	rows, err := syncsPerAdvance(testBed(t))
	if err != nil {
		t.Fatal(err)
	}
	if r := rows[0].judged(); !r.OK {
		t.Errorf("%+v", r)
	}
}

func TestClaims(t *testing.T) {
	b := testBed(t)
	c, err := b.makeClaimed("m")
	if err != nil {
		t.Fatal(err)
	}
	crew, err := b.claimWorkers(c, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.loads(2, 10*time.Millisecond, crew); err != nil {
		t.Fatal(err)
	}
	if crew.rate() <= 0 || crew.hold() <= 0 || len(crew.waits()) == 0 {
		t.Errorf("rate %v, hold %v, waits %v", crew.rate(), crew.hold(), crew.waits())
	}
}

func TestJudged(t *testing.T) {
	for _, test := range []struct {
		kind  bar
		value float64
		want  bool
	}{{atMost, 2, true}, {atMost, 2.1, false}, {atLeast, 2, true}, {atLeast, 1.9, false}, {exactly, 2, true}, {exactly, 3, false}, {noBar, 9, true}} {
		if r := (row{Value: test.value, Bar: 2, Kind: test.kind}).judged(); r.OK != test.want {
			t.Errorf("%s 2: %g is %v", test.kind, test.value, r.OK)
		}
	}
}

func TestQuantile(t *testing.T) {
	all := []int64{5, 1, 4, 2, 3}
	if median(all) != 3 || quantile(all, 0.99) != 5 || median([]int64(nil)) != 0 {
		t.Error("wrong quantiles of", all)
	}
}
