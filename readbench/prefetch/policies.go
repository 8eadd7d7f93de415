package prefetch

import (
	"fmt"
	"strings"
)

// Policies returns the policies of this package, in the order in which tables show them.
func Policies() []Policy {
	return []Policy{None(), Always(), Loaded(), Backoff(), BackoffLocal(), SlowClimb(), RunLength(), Bitmap(), Adaptive()}
}

// Names are the names of Policies, in the same order.
func Names() []string {
	var names []string
	for _, p := range Policies() {
		names = append(names, p.Name())
	}
	return names
}

// New returns the policy of this package that has that name.
func New(name string) (Policy, error) {
	for _, p := range Policies() {
		if p.Name() == name {
			return p, nil
		}
	}
	return nil, fmt.Errorf("there is no prefetch policy %q; there are %s (a policy of your own needs no name here: pass its value)", name, strings.Join(Names(), ", "))
}
