package guest

// Request is the request of guard and execute. What it does not name is in All.
type Request struct {
	All        Value // the whole document
	Verb       string
	Run        Run
	MissionDir string // absolute, such as /project/kitty-specs/034-pay-by-link
	Workspace  string // /workspace, or "" where there is none
	Step       Step
	Package    string // the work package that is reported, or ""
	Inputs     Value  // texts by key
	Answers    Value  // answers to this plugin's own questions, by key
	Completed  []string
	Packages   []Package
	Agent      string
	Result     string
	Reason     string
	Now        string // RFC 3339, UTC; the only time there is
	Commands   []CommandResult
}

// Run is the run that asks.
type Run struct {
	ID, Mission, Type string
	Revision          int // commits so far
}

// Step is the step in question.
type Step struct {
	ID, Title string
	Attempt   int   // 1 for the first
	With      Value // this plugin's settings in the mission
}

// Package is one work package.
type Package struct {
	ID, Title, Lane string
	Dependencies    []string
	Path            string // its file, absolute, or ""
}

// CommandResult is what a command gave that the last answer needed.
type CommandResult struct {
	Command        string
	Exit           int // -1 where it could not be run or was stopped
	Stdout, Stderr string
	TimedOut       bool
}

// ParseRequest reads a request. Keys that it does not know are ignored.
func ParseRequest(raw []byte) (Request, error) {
	if len(raw) > MaxRequest {
		return Request{}, callError("the request is larger than 8 MiB")
	}
	v, err := Parse(raw)
	if err != nil {
		return Request{}, callError("the request is not JSON: " + err.Error())
	}
	if v.Kind() != Object {
		return Request{}, callError("the request must be a JSON object")
	}
	if n, ok := v.Get("abi").Int(); !ok || n != Version {
		return Request{}, callError("the request is not one of ABI version 1, the only one that this plugin knows")
	}
	dir, _ := v.Get("mission").Get("dir").Text()
	if dir == "" {
		return Request{}, callError("the request has no mission.dir")
	}
	r := Request{
		All: v, MissionDir: dir, Verb: text(v, "verb"), Workspace: text(v, "workspace"), Package: text(v, "package"),
		Inputs: v.Get("inputs"), Answers: v.Get("answers"), Completed: texts(v.Get("completed")),
		Agent: text(v, "agent"), Result: text(v, "result"), Reason: text(v, "reason"), Now: text(v, "now"),
	}
	run, step := v.Get("run"), v.Get("step")
	r.Run = Run{text(run, "id"), text(run, "mission"), text(run, "type"), number(run, "revision")}
	r.Step = Step{text(step, "id"), text(step, "title"), number(step, "attempt"), step.Get("with")}
	for _, p := range v.Get("packages").Items() {
		r.Packages = append(r.Packages, Package{text(p, "id"), text(p, "title"), text(p, "lane"), texts(p.Get("dependencies")), text(p, "path")})
	}
	for _, c := range v.Get("commands").Items() {
		late, _ := c.Get("timed_out").Bool()
		r.Commands = append(r.Commands, CommandResult{text(c, "command"), number(c, "exit"), text(c, "stdout"), text(c, "stderr"), late})
	}
	return r, nil
}

func text(v Value, key string) string {
	t, _ := v.Get(key).Text()
	return t
}

func number(v Value, key string) int {
	n, _ := v.Get(key).Int()
	return n
}

func texts(v Value) []string {
	var all []string
	for _, item := range v.Items() {
		if t, ok := item.Text(); ok {
			all = append(all, t)
		}
	}
	return all
}
