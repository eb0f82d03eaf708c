package explorer

import (
	"strings"
	"testing"
	"time"
)

func fileFaults(calls, kills, failures, edits uint8) FileBounds {
	return FileBounds{Missions: 1, Calls: calls, Kills: kills, PowerFailures: failures, Edits: edits}
}

// betweenMissions is the same with two runs.
func betweenMissions(calls, kills, failures, edits uint8) FileBounds {
	b := fileFaults(calls, kills, failures, edits)
	b.Missions = twoRuns
	return b
}

// P3: the publication as built loses no file of an acknowledged report and
// overwrites nobody's, whatever happens within the bounds.
func TestFilesAsBuilt_P3(t *testing.T) {
	for name, b := range map[string]FileBounds{
		"crashes":           fileFaults(3, depth(2), 2, 0),
		"somebody writes":   fileFaults(2, depth(1), 1, 2),
		"two at work, kill": fileFaults(depth(3), 1, 0, 1),
		"two missions":      betweenMissions(4, depth(2), 2, 0),
		"and somebody else": betweenMissions(3, 1, depth(1), 1),
	} {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			r := ExploreFiles(FileProtocol{}, b)
			t.Logf("%v (%v)", r, time.Since(begin).Round(time.Millisecond))
			if r.Broken != "" || r.States < 1000 {
				t.Fail()
			}
		})
	}
}

// Each rule is one without which a promise breaks.
func TestFileMutants(t *testing.T) {
	for _, tt := range []struct {
		name string
		p    FileProtocol
		b    FileBounds
		want string
	}{
		{"the files are made before their record", FileProtocol{MadeFirst: true}, fileFaults(1, 0, 0, 0), "a file is made of a report"},
		{"the places are not looked at before the files are made", FileProtocol{NoLook: true}, fileFaults(2, 1, 0, 1), "overwritten"},
		{"nothing is compared at all", FileProtocol{NoLook: true, NoCompare: true}, fileFaults(1, 0, 0, 1), "overwritten"},
		{"what is left over is not finished", FileProtocol{NoFinish: true}, fileFaults(2, 1, 0, 0), "never made"},
		{"that they are made is told before it is durable", FileProtocol{NoFolderSync: true}, fileFaults(1, 0, 1, 0), "are lost"},
		{"what another mission left is not finished", FileProtocol{NoOthers: true}, betweenMissions(2, 1, 0, 0), "shut a record's files out"},
		{"that another mission's files are made is not made durable", FileProtocol{NoSettle: true}, betweenMissions(2, 0, 1, 0), "nothing stands in its way"},
		{"who publishes is not named durably", FileProtocol{NameUnsynced: true}, betweenMissions(2, 0, 1, 0), "shut a record's files out"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := ExploreFiles(tt.p, tt.b)
			t.Logf("%v", r)
			if r.Broken == "" || !strings.Contains(r.Broken, tt.want) {
				t.Errorf("found %q, want something with %q", r.Broken, tt.want)
			}
		})
	}
}
