package mission

import "slices"

// next lists the lanes that one move leads to.
func (l Lane) next() []Lane {
	var next []Lane
	switch l {
	case Genesis:
		next = []Lane{Planned}
	case Planned:
		next = []Lane{Claimed}
	case Claimed:
		next = []Lane{InProgress}
	case InProgress:
		next = []Lane{ForReview, Approved, Planned}
	case ForReview:
		next = []Lane{InReview}
	case InReview:
		next = []Lane{Approved, Done, InProgress, Planned}
	case Approved:
		next = []Lane{Done, InProgress, Planned}
	case Blocked:
		return []Lane{InProgress, Canceled}
	default: // final
		return nil
	}
	return append(next, Canceled, Blocked)
}

// CanMove tells whether one move leads from a lane to another.
func CanMove(from, to Lane) bool { return slices.Contains(from.next(), to) }

// Path is the shortest way from a lane to another, without from and with to;
// it does not pass through blocked or canceled. It is empty where from is to,
// and nil with ok false where no way leads there.
func Path(from, to Lane) (path []Lane, ok bool) {
	if from == to {
		return nil, true
	}
	came := map[Lane]Lane{from: ""}
	for queue := []Lane{from}; len(queue) > 0; queue = queue[1:] {
		for _, next := range queue[0].next() {
			if _, seen := came[next]; seen {
				continue
			}
			came[next] = queue[0]
			if next == to {
				return trail(came, from, to), true
			}
			if next != Blocked && next != Canceled {
				queue = append(queue, next)
			}
		}
	}
	return nil, false
}

func trail(came map[Lane]Lane, from, to Lane) []Lane {
	var path []Lane
	for at := to; at != from; at = came[at] {
		path = append(path, at)
	}
	slices.Reverse(path)
	return path
}
