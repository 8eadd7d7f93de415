package readbench

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readbench/suite/internal/result"
	"github.com/readbench/suite/readbench/config"
)

var update = flag.Bool("update", false, "rewrite the generated parts of the docs")

// The tables in the docs are those of the code.
func TestDocs(t *testing.T) {
	for _, tc := range []struct{ file, part, table string }{
		{"../README.md", "variables", config.Variables()},
		{"../docs/metrics.md", "metrics", result.Table()},
	} {
		b, err := os.ReadFile(tc.file)
		if err != nil {
			t.Fatal(err)
		}
		begin, end := "<!-- "+tc.part+" -->\n", "<!-- end of "+tc.part+" -->"
		head, rest, ok := strings.Cut(string(b), begin)
		old, tail, ok2 := strings.Cut(rest, end)
		if !ok || !ok2 {
			t.Fatalf("%s has no part between %q and %q", tc.file, begin, end)
		}
		if old == tc.table {
			continue
		}
		if !*update {
			t.Errorf("%s: the %s differ from the code (go test ./readbench -run TestDocs -update):\n%s", tc.file, tc.part, cmp.Diff(old, tc.table))
			continue
		}
		if err := os.WriteFile(tc.file, []byte(head+begin+tc.table+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
