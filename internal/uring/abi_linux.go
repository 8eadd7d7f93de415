package uring

// What the kernel and this package share: structures and numbers of <linux/io_uring.h>, as io_uring_setup(2),
// io_uring_enter(2) and io_uring_register(2) describe them. They are the same on all 64-bit machines; abi_linux_test.go
// checks sizes and offsets.

// sqe is struct io_uring_sqe: one request.
type sqe struct {
	opcode      uint8
	flags       uint8
	ioprio      uint16
	fd          int32
	off         uint64 // in the file
	addr        uint64 // of the memory; for a cancellation, the user data of what is to be cancelled
	len         uint32
	opFlags     uint32 // rw_flags, fadvise_advice
	userData    uint64
	bufIndex    uint16
	personality uint16
	fileIndex   uint32
	addr3       uint64
	_           uint64
}

// cqe is struct io_uring_cqe: one result.
type cqe struct {
	userData uint64
	res      int32 // bytes, or a negative error number
	flags    uint32
}

// sqOffsets and cqOffsets say where in the shared memory the parts of the queues are, in bytes.
type sqOffsets struct {
	head, tail, ringMask, ringEntries, flags, dropped, array, _ uint32
	_                                                           uint64
}

type cqOffsets struct {
	head, tail, ringMask, ringEntries, overflow, cqes, flags, _ uint32
	_                                                           uint64
}

// params is struct io_uring_params.
type params struct {
	sqEntries, cqEntries     uint32
	flags                    uint32
	sqThreadCPU, sqThreadIdl uint32
	features                 uint32
	wqFd                     uint32
	_                        [3]uint32
	sqOff                    sqOffsets
	cqOff                    cqOffsets
}

const (
	opNop         = 0
	opReadFixed   = 4
	opAsyncCancel = 14
	opRead        = 22
	opFadvise     = 24
	opMadvise     = 25

	sqeFixedFile = 1 << 0

	// io_uring_setup
	setupSubmitAll    = 1 << 7  // 5.18: go on after a request that fails at once
	setupCoopTaskrun  = 1 << 8  // 5.19: do not interrupt the thread to complete its requests
	setupSingleIssuer = 1 << 12 // 6.0: one thread submits
	setupDeferTaskrun = 1 << 13 // 6.1: complete requests when the thread waits for them, and not before

	featSingleMmap = 1 << 0 // 5.4: both queues in one mapping
	featNoDrop     = 1 << 1 // 5.5: completions are not lost when their queue is full
	featRWCurPos   = 1 << 3 // 5.6: which is the release that brought IORING_OP_READ, FADVISE and MADVISE

	enterGetEvents = 1 << 0

	registerBuffers   = 0
	unregisterBuffers = 1
	registerFiles     = 2

	offSQRing = 0
	offSQEs   = 0x10000000

	maxEntries     = 32768   // of a submission queue
	maxFixedBuffer = 1 << 30 // bytes of one registered buffer
)
