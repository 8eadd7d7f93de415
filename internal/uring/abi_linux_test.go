package uring

import (
	"testing"
	"unsafe"
)

// Sizes and offsets are those of <linux/io_uring.h>.
func TestStructuresAreTheKernels(t *testing.T) {
	var (
		s  sqe
		c  cqe
		p  params
		so sqOffsets
		co cqOffsets
	)
	for _, x := range []struct {
		name      string
		got, want uintptr
	}{
		{"sizeof(struct io_uring_sqe)", unsafe.Sizeof(s), 64},
		{"sqe.opcode", unsafe.Offsetof(s.opcode), 0},
		{"sqe.flags", unsafe.Offsetof(s.flags), 1},
		{"sqe.ioprio", unsafe.Offsetof(s.ioprio), 2},
		{"sqe.fd", unsafe.Offsetof(s.fd), 4},
		{"sqe.off", unsafe.Offsetof(s.off), 8},
		{"sqe.addr", unsafe.Offsetof(s.addr), 16},
		{"sqe.len", unsafe.Offsetof(s.len), 24},
		{"sqe.rw_flags", unsafe.Offsetof(s.opFlags), 28},
		{"sqe.user_data", unsafe.Offsetof(s.userData), 32},
		{"sqe.buf_index", unsafe.Offsetof(s.bufIndex), 40},
		{"sqe.personality", unsafe.Offsetof(s.personality), 42},
		{"sqe.file_index", unsafe.Offsetof(s.fileIndex), 44},
		{"sqe.addr3", unsafe.Offsetof(s.addr3), 48},
		{"sizeof(struct io_uring_cqe)", unsafe.Sizeof(c), 16},
		{"cqe.user_data", unsafe.Offsetof(c.userData), 0},
		{"cqe.res", unsafe.Offsetof(c.res), 8},
		{"cqe.flags", unsafe.Offsetof(c.flags), 12},
		{"sizeof(struct io_uring_params)", unsafe.Sizeof(p), 120},
		{"params.sq_entries", unsafe.Offsetof(p.sqEntries), 0},
		{"params.cq_entries", unsafe.Offsetof(p.cqEntries), 4},
		{"params.flags", unsafe.Offsetof(p.flags), 8},
		{"params.features", unsafe.Offsetof(p.features), 20},
		{"params.wq_fd", unsafe.Offsetof(p.wqFd), 24},
		{"params.sq_off", unsafe.Offsetof(p.sqOff), 40},
		{"params.cq_off", unsafe.Offsetof(p.cqOff), 80},
		{"sizeof(struct io_sqring_offsets)", unsafe.Sizeof(so), 40},
		{"sq_off.ring_mask", unsafe.Offsetof(so.ringMask), 8},
		{"sq_off.array", unsafe.Offsetof(so.array), 24},
		{"sizeof(struct io_cqring_offsets)", unsafe.Sizeof(co), 40},
		{"cq_off.overflow", unsafe.Offsetof(co.overflow), 16},
		{"cq_off.cqes", unsafe.Offsetof(co.cqes), 20},
		{"cq_off.flags", unsafe.Offsetof(co.flags), 24},
	} {
		if x.got != x.want {
			t.Errorf("%s is %d, want %d", x.name, x.got, x.want)
		}
	}
}
