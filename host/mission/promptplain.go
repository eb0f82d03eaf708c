package mission

import "strings"

// plainPrompt is the text for a step without a prompt of its own.
func plainPrompt(data PromptData) string {
	var out strings.Builder
	part := func(heading, text string) {
		text = strings.TrimSpace(text)
		if text == "" {
			return
		}
		if out.Len() > 0 {
			out.WriteString("\n")
		}
		if heading != "" {
			out.WriteString(heading + "\n\n")
		}
		out.WriteString(text + "\n")
	}
	title := data.Step.Title
	if title == "" {
		title = data.Step.ID
	}
	part("", "# "+title)
	part("", data.Step.Description)
	part("", data.Step.Question)
	if p := data.Package; p != nil {
		part("## "+strings.TrimSpace(p.ID+" "+p.Title), p.Body)
		part("", p.Path)
	}
	part("## What came back", data.Feedback)
	part("## When it is done", data.Report)
	return out.String()
}
