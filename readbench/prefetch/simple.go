package prefetch

import "github.com/readbench/suite/readbench/strategy"

// None never probes and never hints: what hot reads cannot be faster than.
func None() Policy { return none{} }

type none struct{}

func (none) Name() string                  { return "none" }
func (none) Probeless()                    {}
func (none) Open(Target) func(int) Decider { return func(int) Decider { return nil } }

// Always hints every range, without a probe.
func Always() Policy { return always{} }

type always struct{}

func (always) Name() string                  { return "always" }
func (always) Probeless()                    {}
func (always) Open(Target) func(int) Decider { return func(int) Decider { return always{} } }
func (always) Decide(strategy.Range) Action  { return Hint }
func (always) Learn(strategy.Range, bool)    {}

// Loaded probes every range and hints the misses (apache/lucene pull request 16145 calls that rm-backoff).
func Loaded() Policy { return loaded{} }

type loaded struct{}

func (loaded) Name() string                  { return "loaded" }
func (loaded) Open(Target) func(int) Decider { return func(int) Decider { return loaded{} } }
func (loaded) Decide(strategy.Range) Action  { return Probe }
func (loaded) Learn(strategy.Range, bool)    {}
