package lanes_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/host/lanes"
	"github.com/spec-kitty/step-runner/host/mission"
)

func TestCount(t *testing.T) {
	cases := map[string]struct {
		in   []mission.Lane
		want *lanes.Progress
	}{
		"none": {nil, nil},
		"one of each": {append(mission.Lanes(), mission.Genesis),
			&lanes.Progress{Total: 10, Done: 1, Approved: 1, InProgress: 2, Planned: 1, ForReview: 2, Weighted: 34.5}},
		"all done":         {[]mission.Lane{mission.Done, mission.Done}, &lanes.Progress{Total: 2, Done: 2, Weighted: 100}},
		"nothing done":     {[]mission.Lane{mission.Planned}, &lanes.Progress{Total: 1, Planned: 1}},
		"one of three":     {[]mission.Lane{mission.Done, mission.Planned, mission.Blocked}, &lanes.Progress{Total: 3, Done: 1, Planned: 1, Weighted: 33.3}},
		"two of three":     {[]mission.Lane{mission.Done, mission.Done, mission.Canceled}, &lanes.Progress{Total: 3, Done: 2, Weighted: 66.7}},
		"claimed counts":   {[]mission.Lane{mission.Claimed}, &lanes.Progress{Total: 1, InProgress: 1, Weighted: 5}},
		"in review counts": {[]mission.Lane{mission.InReview}, &lanes.Progress{Total: 1, ForReview: 1, Weighted: 70}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, lanes.Count(c.in)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
