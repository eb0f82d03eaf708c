// Package judging holds what tests print against the published schemas, in a process
// beside theirs (see judge).
package judging

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// Judge judges documents. It ends with the process that started it.
type Judge struct {
	names map[string]bool

	mu      sync.Mutex
	ask     io.WriteCloser
	answers *bufio.Reader
	cmd     *exec.Cmd
}

// Start starts a judge by schema files, each named as its file is, without
// .schema.json. The go command, which runs it, works in the folder of the repository,
// root, and with this environment.
func Start(root string, env []string, files ...string) (*Judge, error) {
	j := &Judge{names: map[string]bool{}}
	args := []string{"run", "./docs/judging/judge"}
	for _, file := range files {
		file, err := filepath.Abs(file)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(filepath.Base(file), ".schema.json")
		j.names[name] = true
		args = append(args, name+"="+file)
	}
	j.cmd = exec.Command("go", args...)
	j.cmd.Dir, j.cmd.Env, j.cmd.Stderr = root, env, os.Stderr
	var err error
	if j.ask, err = j.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	answers, err := j.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	j.answers = bufio.NewReader(answers)
	return j, j.cmd.Start()
}

// Has tells whether there is a schema of that name.
func (j *Judge) Has(schema string) bool { return j.names[schema] }

// Fits is an error that says where a document does not fit the schema. It may be
// called concurrently.
func (j *Judge) Fits(schema string, doc []byte) error {
	line, err := json.Marshal(map[string]any{"schema": schema, "doc": json.RawMessage(doc)})
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.ask.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("the judge is gone: %w", err)
	}
	raw, err := j.answers.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("the judge does not answer: %w", err)
	}
	var fault string
	if err := json.Unmarshal(raw, &fault); err != nil {
		return fmt.Errorf("the judge says %q: %w", raw, err)
	}
	if fault != "" {
		return errors.New(fault)
	}
	return nil
}

// Close ends the judge and waits for its end.
func (j *Judge) Close() error {
	j.ask.Close()
	return j.cmd.Wait()
}
