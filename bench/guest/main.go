// Command guest is a plugin in Go, as its author would write it: a guard that
// reads its request and allows. The benchmark builds it for wasip1.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// request is the part of it that this guard looks at.
type request struct {
	Mission struct {
		Dir string `json:"dir"`
	} `json:"mission"`
	Step struct {
		ID string `json:"id"`
	} `json:"step"`
}

func main() {
	if err := judge(); err != nil {
		fmt.Fprintln(os.Stderr, "guest:", err)
		os.Exit(1)
	}
}

func judge() error {
	var q request
	if err := json.NewDecoder(os.Stdin).Decode(&q); err != nil {
		return err
	}
	text, err := os.ReadFile(q.Mission.Dir + "/spec.md")
	if err != nil {
		return err
	}
	answer := map[string]any{"verdict": "allow"}
	if !strings.Contains(string(text), "### User story") {
		answer = map[string]any{"verdict": "refuse", "reasons": []map[string]string{{"message": "no user story for step " + q.Step.ID}}}
	}
	return json.NewEncoder(os.Stdout).Encode(answer)
}
