package mission

// Lane is where a work package lies.
type Lane string

// The lanes. Genesis comes before planned: it is not shown and not offered,
// keeps until unmet and is named.
const (
	Genesis    Lane = "genesis"
	Planned    Lane = "planned"
	Claimed    Lane = "claimed"
	InProgress Lane = "in_progress"
	ForReview  Lane = "for_review"
	InReview   Lane = "in_review"
	Approved   Lane = "approved"
	Done       Lane = "done"
	Blocked    Lane = "blocked"
	Canceled   Lane = "canceled"
)

// Lanes lists the nine lanes that a definition may name, in working order.
func Lanes() []Lane {
	return []Lane{Planned, Claimed, InProgress, ForReview, InReview, Approved, Done, Blocked, Canceled}
}

// ParseLane reads a lane's name; doing is an alias of in_progress. ok is false
// for anything that is no lane.
func ParseLane(name string) (lane Lane, ok bool) {
	switch Lane(name) {
	case "doing":
		return InProgress, true
	case Genesis, Planned, Claimed, InProgress, ForReview, InReview, Approved, Done, Blocked, Canceled:
		return Lane(name), true
	}
	return "", false
}

// Final tells whether no move leads out of the lane.
func (l Lane) Final() bool { return l == Done || l == Canceled }

// Satisfies tells whether a package in this lane satisfies those that depend on
// it. A canceled one asks first and does not satisfy by itself.
func (l Lane) Satisfies() bool { return l == Approved || l == Done }
