// Command guest is a plugin in Go, as its author would write it: a guard that
// reads its request and allows. The benchmark builds it for wasip1.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"text/template"
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
	story, err := regexp.Compile(`(?m)^### User story \d+`)
	if err != nil {
		return err
	}
	if story.Match(text) {
		_, err = fmt.Println(`{"verdict":"allow"}`)
		return err
	}
	refusal, err := template.New("refusal").Parse(
		`{"verdict":"refuse","reasons":[{"message":"no user story for step {{js .Step.ID}}"}]}` + "\n")
	if err != nil {
		return err
	}
	return refusal.Execute(os.Stdout, q)
}
