package strategies

import (
	"sync"

	"github.com/readbench/suite/internal/iobuf"
	"github.com/readbench/suite/internal/notice"
)

// worthHuge is how large a buffer is, in bytes, that is worth a huge page of 2 MiB: there may be many of them.
const worthHuge = 16 << 10

var toldHugePages sync.Once

// tellHugePages prints for people, once, if the buffers of direct reads are not in huge pages: that decides much of what these
// cost. look says how many of all bytes of a buffer are.
func tellHugePages(look func() (huge, all int64, err error)) (err error) {
	toldHugePages.Do(func() {
		var huge, all int64
		if huge, all, err = look(); err != nil {
			return
		}
		if huge < all {
			notice.Printf("direct reads: %d of a buffer's %d bytes are in huge pages, which costs much: %s", huge, all, iobuf.Setting())
		}
	})
	return err
}
