package duel

import "syscall"

// groupOfItsOwn: a contestant leads a process group, which can be killed as a whole, and what a terminal sends to the coordinator it does not get. If
// the coordinator is killed, so is it (if the thread that started it ends, in fact: threads of Go live as long as the process).
func groupOfItsOwn() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
