package lanes

import (
	"math"

	"github.com/spec-kitty/step-runner/host/mission"
)

// Progress counts packages as today's callers of next expect it: claimed counts
// as in progress, in_review as for review; blocked and canceled are in the total
// alone.
type Progress struct {
	Total      int     `json:"total_wps"`
	Done       int     `json:"done_wps"`
	Approved   int     `json:"approved_wps"`
	InProgress int     `json:"in_progress_wps"`
	Planned    int     `json:"planned_wps"`
	ForReview  int     `json:"for_review_wps"`
	Weighted   float64 `json:"weighted_percentage"` // 0 to 100, one digit after the point
}

// Count counts lanes, one for each package that has a file; a lane without a
// file is shown elsewhere and not counted. No lanes are no progress: nil.
//
// The weights are those of the existing tool, so that both show one number:
// claimed 5 %, in_progress 30 %, for_review 60 %, in_review 70 %, approved 80 %,
// done 100 %; planned, blocked, canceled and genesis nothing.
func Count(lanes []mission.Lane) *Progress {
	if len(lanes) == 0 {
		return nil
	}
	p := &Progress{Total: len(lanes)}
	weight := 0
	for _, lane := range lanes {
		weight += p.add(lane)
	}
	p.Weighted = math.Round(float64(weight)*10/float64(len(lanes))) / 10
	return p
}

// add counts one package and gives its weight in hundredths.
func (p *Progress) add(lane mission.Lane) int {
	switch lane {
	case mission.Planned:
		p.Planned++
	case mission.Claimed:
		p.InProgress++
		return 5
	case mission.InProgress:
		p.InProgress++
		return 30
	case mission.ForReview:
		p.ForReview++
		return 60
	case mission.InReview:
		p.ForReview++
		return 70
	case mission.Approved:
		p.Approved++
		return 80
	case mission.Done:
		p.Done++
		return 100
	}
	return 0
}
