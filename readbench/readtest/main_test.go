package readtest

import (
	"flag"
	"os"
	"testing"
)

// There are no benchmarks here, and "go test -bench=. -count=10 ./..." wants no tests, ten times.
func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() != "" && flag.Lookup("test.run").Value.String() == "" {
		os.Exit(0)
	}
	os.Exit(m.Run())
}
