package uring

import (
	"os"
	"strings"
	"testing"
)

// Buffers are in huge pages if that was asked for, and if the kernel lets itself be asked.
func TestHugePages(t *testing.T) {
	engines(t)
	enabled, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if err != nil || !strings.Contains(string(enabled), "[madvise]") {
		t.Skipf("huge pages are not there for those who ask, and only for them: %q, %v", enabled, err)
	}
	for _, o := range []Options{{}, {FixedBuffers: true}, {HugePages: true}, {HugePages: true, FixedBuffers: true, OneThread: true}} {
		o.File, o.Depth, o.MaxRange = content(t), 8, 20000
		r := openTest(t, o)
		huge, all, err := r.HugePages()
		if err != nil || (huge >= all) != o.HugePages || all < int64(o.Depth*o.MaxRange) || !o.HugePages && huge != 0 {
			t.Errorf("%s: %d of %d bytes are in huge pages; %v", r, huge, all, err)
		}
		doAndCheck(t, r, []read{{5, 10000}, {100000, 20000}, {1, 1}})
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if huge, all, err := r.HugePages(); huge != 0 || all != 0 || err != nil {
			t.Errorf("closed: %d of %d bytes are in huge pages; %v", huge, all, err)
		}
	}
	r := openTest(t, Options{Depth: 1})
	if huge, all, err := r.HugePages(); huge != 0 || all != 0 || err != nil {
		t.Errorf("without buffers: %d of %d bytes are in huge pages; %v", huge, all, err)
	}
}
