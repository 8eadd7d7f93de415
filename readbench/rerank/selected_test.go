package rerank

import "testing"

func TestSelects(t *testing.T) {
	for pattern, want := range map[string]bool{
		".": true, "Query": true, "Query/hot": true, "Query/hot/pool": true, "Query/(hot|cold)/(serial|pool)/threads=1$": true, "Query//": true,
		"Query/hot/serial|Query/cold/pool": true, "Query/hot/[": true,
		"Query/hot/serial": false, "Query/(hot|cold)/(serial|mmap)": false, "Query/hot/serial|Query/cold/mmap": false, `Query/a[/|]b\/c/^mmap$`: false,
	} {
		if got := selects(pattern, "backend=pool"); got != want {
			t.Errorf("%s: %v", pattern, got)
		}
	}
}
