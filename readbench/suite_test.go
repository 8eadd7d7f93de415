package readbench

import "testing"

// A -bench pattern selects as the testing package would: what stands before a '/' is for the function, and alternatives are each looked at.
func TestSelects(t *testing.T) {
	const name = "BenchmarkPreadDirect"
	for pattern, want := range map[string]bool{
		".":                              true,
		"PreadDirect":                    true,
		"Pread":                          true,
		"Pread$":                         false,
		"Pread$/case=hot":                false,
		"PreadDirect/case=cold":          true,
		"Pread$/hot|PreadDirect/hot":     true,
		"Mmap|Pread$":                    false,
		"(Mmap|PreadDirect)$/case=hot":   true,
		"(Mmap|Pread)$/case=hot":         false,
		"(":                              false,
		"^$":                             false,
		"BenchmarkPreadDirect/^$":        true,
		"Mmap/case=hot/threads=1|Pread$": false,
	} {
		if got := selects(pattern, name); got != want {
			t.Errorf("%q selects %s: %v, want %v", pattern, name, got, want)
		}
	}
}
