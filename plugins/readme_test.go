package plugins

import (
	"os"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/plugins/abi"
)

// Every answer that the page shows is one that the host takes.
func TestAnswersOnThePage(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for i, block := range strings.Split(string(page), "```json\n")[1:] {
		text, _, _ := strings.Cut(block, "```")
		switch {
		case strings.Contains(text, `"verdict"`):
			_, err = abi.DecodeGuard([]byte(text))
		case strings.Contains(text, `"outcome"`):
			_, err = abi.DecodeExecute([]byte(text))
		case strings.Contains(text, `"verbs"`):
			_, err = abi.DecodeDescribe([]byte(text))
		default:
			continue
		}
		shown++
		if err != nil {
			t.Errorf("block %d: %v", i+1, err)
		}
	}
	if shown != 5 {
		t.Errorf("%d answers on the page, want 5", shown)
	}
}
