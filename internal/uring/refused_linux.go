package uring

import (
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// refused explains why the kernel refused what, which needs the given bytes of memory. Causes in the
// environment wrap ErrUnsupported.
func refused(sys system, what string, need int, err error) error {
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return fmt.Errorf("%s: %w: %w", what, err, unsupported("%s", whoForbids(sys.disabled())))
	case errors.Is(err, unix.ENOSYS):
		return fmt.Errorf("%s: %w: %w", what, err, unsupported("kernel %s is older than 5.1 or was built without io_uring, or a seccomp filter hides it (as some container engines' does; --security-opt seccomp=unconfined lifts it)",
			sys.release()))
	case errors.Is(err, unix.ENOMEM):
		soft, hard := sys.memlock()
		return fmt.Errorf("%s needs %d bytes of locked memory: %w: %w", what, need, err,
			unsupported("RLIMIT_MEMLOCK (for all of the user's rings together) is soft %s, hard %s; raise it (ulimit -l, in KiB; LimitMEMLOCK= of systemd; --ulimit memlock= of a container), or ask for a smaller depth or shorter reads",
				limit(soft), limit(hard)))
	case errors.Is(err, unix.EINVAL):
		return fmt.Errorf("%s: %w: %w", what, err, unsupported("kernel %s does not know it; 5.6 or later is needed", sys.release()))
	}
	return fmt.Errorf("%s: %w", what, err)
}

// whoForbids explains EPERM by the value of the sysctl kernel.io_uring_disabled.
func whoForbids(disabled string) string {
	switch disabled {
	case "":
		return "this kernel has no /proc/sys/kernel/io_uring_disabled, so a seccomp filter or a security module is likely to forbid it (container engines' default filter does; --security-opt seccomp=unconfined lifts it)"
	case "0":
		return "/proc/sys/kernel/io_uring_disabled is 0 (allowed), so a seccomp filter or a security module is likely to forbid it (container engines' default filter does; --security-opt seccomp=unconfined lifts it)"
	case "1":
		return "/proc/sys/kernel/io_uring_disabled is 1: only CAP_SYS_ADMIN and the group of kernel.io_uring_group may use it; sysctl kernel.io_uring_disabled=0 allows it"
	}
	return "/proc/sys/kernel/io_uring_disabled is " + disabled + ": nobody may use it; sysctl kernel.io_uring_disabled=0 allows it"
}

func limit(n uint64) string {
	if n == unix.RLIM_INFINITY {
		return "unlimited"
	}
	return strconv.FormatUint(n, 10)
}
