package main

import (
	"fmt"
	"os"
)

// volunteer makes this process the first one that the kernel kills if memory runs out: it is the cause.
func volunteer() error {
	if err := os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0); err != nil {
		return fmt.Errorf("making ramhog the first process to be killed if memory runs out: %w", err)
	}
	return nil
}
