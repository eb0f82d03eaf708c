package command

import "slices"

// Environ is the environment of a command: those variables of ours that it was
// granted by name, and over them what the runner tells it. Nothing else gets
// through, so no secret does that nobody named. lookup is os.LookupEnv.
func Environ(pass []string, told map[string]string, lookup func(string) (string, bool)) []string {
	all := map[string]string{}
	for _, name := range slices.Concat(needed(), pass) {
		if value, ok := lookup(name); ok {
			all[name] = value
		}
	}
	for name, value := range told {
		all[name] = value
	}
	list := make([]string, 0, len(all))
	for name, value := range all {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}
