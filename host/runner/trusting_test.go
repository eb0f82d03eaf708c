package runner

import (
	"context"
	"testing"
)

// trustIn keeps consents in a folder of the test's own.
func trustIn(dir string) func(*Options) { return func(o *Options) { o.TrustDir = dir } }

// trustAll consents to the configuration as it stands.
func trustAll(t *testing.T, p *Project) string {
	t.Helper()
	c, err := p.Consent(context.Background(), ConsentTo{})
	if err != nil {
		t.Fatal(err)
	}
	if c, err = p.GiveConsent(context.Background(), ConsentTo{}, c.Digest); err != nil || !c.Consented || !c.Recorded {
		t.Fatalf("%+v, %v", c, err)
	}
	return c.Digest
}
