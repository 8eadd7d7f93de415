package filelock

import (
	"fmt"
	"strings"
)

// A Process is one that locks or uses a file.
type Process struct {
	PID     int
	Command string // its command line, "" if it is not visible
}

func (p Process) String() string {
	if p.Command == "" {
		return fmt.Sprintf("process %d", p.PID)
	}
	return fmt.Sprintf("process %d (%s)", p.PID, p.Command)
}

// Names names processes, for people. It is what there is to say if there are none, too.
func Names(ps []Process) string {
	const most = 3
	var names []string
	for i, p := range ps {
		if i == most {
			names = append(names, fmt.Sprintf("%d more", len(ps)-most))
			break
		}
		names = append(names, p.String())
	}
	if len(names) == 0 {
		return "a process that is not visible from here"
	}
	return strings.Join(names, ", ")
}

func contains(ps []Process, pid int) bool {
	for _, p := range ps {
		if p.PID == pid {
			return true
		}
	}
	return false
}
