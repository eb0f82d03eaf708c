// Package trust is the consent of the person at this machine to run host
// programs, and to let plugins write, for a project. A pin proves that bytes are
// the same, not that they are good, and it lies in the repository beside what it
// pins; so consent is recorded elsewhere, in the user's own folder, never in the
// project.
//
// Consent is to a Set, by the digest of its bytes, and to a project, by the path
// of its root: the same words mean other programs in another folder. What is
// compared is the digest of the bytes that will be used, also where those are a
// run's frozen copy, so a copied run brings no consent with it. Comments and the
// order of keys in the configuration are not part of a Set.
//
// A Store may be used by any number of goroutines and processes. Grant is durable
// when it returns.
package trust

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// format is the version of a Set's bytes.
const format = 1

// Set is what a project may run and write: all of its commands, the pins of all
// of its plugins with what they are called with, and the folders that they may
// write to. A loop is a Set of its own; whatever else is to be asked for has a
// digest, which is all that a Store knows of it.
type Set struct {
	Format   int                `json:"format"`
	Commands map[string]Command `json:"commands,omitempty"`
	Plugins  map[string]Plugin  `json:"plugins,omitempty"`
	Loops    map[string]Loop    `json:"loops,omitempty"`
}

// Loop is what one loop may run: its own programs, by the part that they play,
// and the bytes of those that are scripts of the project. The declared commands
// and plugins that it names stand beside it in its set.
type Loop struct {
	Definition string              `json:"definition"` // digest: its prompt, approvals, limits and protected files are in it
	Branch     string              `json:"branch"`
	Prompt     string              `json:"prompt,omitempty"` // the file of it
	Programs   map[string][]string `json:"programs"`
	PassEnv    []string            `json:"pass_env,omitempty"`
	Scripts    map[string]string   `json:"scripts,omitempty"` // path below the project to SHA-256
}

// Command is one declared command.
type Command struct {
	Run     []string `json:"run"`
	Timeout int64    `json:"timeout_ns"`
	Cwd     string   `json:"cwd"`
	PassEnv []string `json:"pass_env,omitempty"`
	Output  int64    `json:"output"`
}

// Plugin is the pin of one plugin, what it may write, and what decides what it
// writes there: with other arguments the same bytes do other work.
type Plugin struct {
	SHA256 string            `json:"sha256"`
	Dir    string            `json:"dir_sha256,omitempty"` // of its own folder, where it has one
	Write  []string          `json:"write,omitempty"`
	Args   []string          `json:"args,omitempty"`
	Read   []string          `json:"read,omitempty"`
	Env    map[string]string `json:"env,omitempty"`
}

// Equal tells whether two plugins are the same to who consents.
func (p Plugin) Equal(o Plugin) bool {
	return p.SHA256 == o.SHA256 && p.Dir == o.Dir && slices.Equal(p.Write, o.Write) &&
		slices.Equal(p.Args, o.Args) && slices.Equal(p.Read, o.Read) && maps.Equal(p.Env, o.Env)
}

// Asks tells whether the set holds anything that needs consent. Plugins that only
// read do not.
func (s Set) Asks() bool {
	if len(s.Commands) > 0 || len(s.Loops) > 0 {
		return true
	}
	for _, p := range s.Plugins {
		if len(p.Write) > 0 {
			return true
		}
	}
	return false
}

// Encode gives the set's bytes, the same for equal sets. They are what a run
// freezes.
func (s Set) Encode() []byte {
	s.Format = format
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic("trust: a set of texts and numbers cannot be encoded: " + err.Error())
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// Digest is the digest of Encode.
func (s Set) Digest() string { return Digest(s.Encode()) }

// Digest is the SHA-256 of a set's bytes, in lower-case hexadecimal: what is
// consented to.
func Digest(set []byte) string {
	sum := sha256.Sum256(set)
	return hex.EncodeToString(sum[:])
}

// Decode reads what Encode wrote. What it does not know is an error: a newer
// version wrote it, and half of a set is not what was consented to.
func Decode(raw []byte) (Set, error) {
	var s Set
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return s, fmt.Errorf("set of commands and grants: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return s, errors.New("set of commands and grants: more than one JSON value")
	}
	if s.Format != format {
		return s, fmt.Errorf("set of commands and grants: format %d is not known to this version", s.Format)
	}
	return s, s.plain()
}

// plain wants all but arguments and values, which are shown in quotes, to be of one
// line each. A set may come with a run from elsewhere, and whoever reads what it would
// run reads it line by line.
func (s Set) plain() error {
	var texts []string
	for name, c := range s.Commands {
		texts = append(append(texts, name, c.Cwd), c.PassEnv...)
	}
	for name, p := range s.Plugins {
		texts = slices.Concat(append(texts, name, p.SHA256, p.Dir), p.Write, p.Read, slices.Collect(maps.Keys(p.Env)))
	}
	for name, l := range s.Loops {
		texts = slices.Concat(append(texts, name, l.Definition, l.Branch, l.Prompt), l.PassEnv,
			slices.Collect(maps.Keys(l.Programs)), slices.Collect(maps.Keys(l.Scripts)), slices.Collect(maps.Values(l.Scripts)))
	}
	for _, text := range texts {
		if strings.ContainsFunc(text, unicode.IsControl) {
			return fmt.Errorf("set of commands and grants: %q holds a control character", text)
		}
	}
	return nil
}
