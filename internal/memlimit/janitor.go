package memlimit

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// watched is what a janitor removes.
type watched struct {
	group, home string // directories
	events      string // file in group with the line "oom_kill N"
	control     string // subtree_control that memory is to be taken out of, if not ""
}

// janitorScript is for any POSIX shell. It waits for the end of its input, which comes when the process that
// holds the other end closes it or ends, in whatever way. If the group is there then, it says what the kernel
// killed in it, moves home what else lives there, and removes it. The process may need a moment to end: 10 s of
// tries.
const janitorScript = `
trap '' HUP INT QUIT TERM
echo ready
exec >/dev/null
exec 3>&2 2>/dev/null # what vanishes in the middle is none of anybody's business
group=$1 home=$2 events=$3 control=$4
while read -r _; do :; done
[ -d "$group" ] || exit 0
while read -r key n; do
	if [ "$key" = oom_kill ] && [ "$n" -gt 0 ]; then
		echo "# readbench: out of memory: the kernel killed $n of the processes in the memory-limited group ${group##*/}: its limit left too little room for them" >&3
	fi
done <"$group/$events"
try=0
while [ -d "$group" ]; do
	while read -r pid; do echo "$pid" >"$home/cgroup.procs"; done <"$group/cgroup.procs"
	rmdir "$group" && break
	try=$((try + 1))
	[ $try -le 100 ] || break
	sleep 0.1
done
if [ -d "$group" ]; then
	echo "# readbench: the memory-limited group $group cannot be removed; the next run tries again" >&3
fi
if [ -n "$control" ]; then
	set -- "${control%/*}"/` + prefix + `.*.*.*.*
	[ -d "$1" ] || echo -memory >"$control"
fi
`

// A janitor removes a group when this process has ended.
type janitor struct {
	cmd  *exec.Cmd
	pipe *os.File
}

// janitors are all that run. Nothing else may keep a pipe reachable, and the collector would close it.
var janitors sync.Map

var shell = "sh" // changed by tests

func startJanitor(w watched) (closer, error) {
	r, pipe, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cmd := exec.Command(shell, "-c", janitorScript, "readbench-janitor", w.group, w.home, w.events, w.control)
	cmd.Dir = "/" // keeps no directory in use
	cmd.Env = []string{"PATH=" + os.Getenv("PATH") + ":/usr/bin:/bin"}
	cmd.Stdin, cmd.Stderr = r, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // what a terminal sends to this process, it does not get
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, errors.Join(err, pipe.Close())
	}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, pipe.Close())
	}
	j := &janitor{cmd, pipe}
	janitors.Store(j, nil)
	// Not before it is at its post is there anything to watch.
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		return nil, fmt.Errorf("%s said %q, %w", shell, line, errors.Join(err, j.Close()))
	}
	return j, nil
}

// Close ends the janitor, which finds nothing to do.
func (j *janitor) Close() error {
	janitors.Delete(j)
	err := j.pipe.Close()
	if waitErr := j.cmd.Wait(); waitErr != nil {
		err = errors.Join(err, fmt.Errorf("the shell that watched over the memory-limited group: %w", waitErr))
	}
	return err
}

// closer ends a janitor that has nothing left to do.
type closer interface{ Close() error }
