//go:build !linux

package duel

import "syscall"

// groupOfItsOwn: a contestant leads a process group, which can be killed as a whole, and what a terminal sends to the coordinator it does not get.
func groupOfItsOwn() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
