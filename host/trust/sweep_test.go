package trust_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/spec-kitty/step-runner/host/trust"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// Consent that is given or taken back on a disk that fails once at its nth
// operation, or from there on, as for a process that is killed there: what was
// acknowledged holds, and what was not is made again (P3).
func TestSweepOfConsent_P3(t *testing.T) {
	digest := set().Digest()
	grant := func(s *trust.Store) error { _, err := s.Grant(set().Encode(), now); return err }
	revoke := func(s *trust.Store) error { _, err := s.Revoke(digest); return err }
	for _, killed := range []bool{false, true} {
		for n, met := 0, true; met; n++ {
			_, o := store(t)
			met = sweepConsent(t, o, n, killed, grant, digest, true)
		}
		for n, met := 0, true; met; n++ {
			s, o := store(t)
			if err := grant(s); err != nil {
				t.Fatal(err)
			}
			met = sweepConsent(t, o, n, killed, revoke, digest, false)
		}
	}
}

// sweepConsent makes a change with a fault at operation n, and tells whether it
// was met.
func sweepConsent(t *testing.T, o trust.Options, n int, killed bool, change func(*trust.Store) error, digest string, want bool) (met bool) {
	t.Helper()
	faulty := &durable.Faulty{Disk: durable.OS(), Fail: func(i int, _ durable.Op) error {
		if i == n || killed && i > n {
			return durable.ErrInjected
		}
		return nil
	}}
	broken := o
	broken.Disk = faulty
	err := change(trust.Open(broken))
	if err != nil {
		if !errors.Is(err, durable.ErrInjected) {
			t.Fatalf("operation %d: %v", n, err)
		}
		if err := change(trust.Open(o)); err != nil {
			t.Fatalf("operation %d: made again: %v", n, err)
		}
	}
	trusts(t, trust.Open(o), digest, want)
	return faulty.Count() > n
}

// What a killed writer left among the records goes with the next consent.
func TestConsentTempsGo_P3(t *testing.T) {
	s, o := store(t)
	left := filepath.Join(o.Dir, ".x.json.tmp-7fffffff00000001")
	if err := errors.Join(os.MkdirAll(o.Dir, 0o700), os.WriteFile(left, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Grant(set().Encode(), now); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); err == nil {
		t.Errorf("%s is left", left)
	}
}
