package uring

import "fmt"

// newEngine opens queues for depth requests.
func newEngine(sys system, o Options) (engine, error) {
	switch o.Engine {
	case EngineRing, "":
		return newQueue(sys, uint32(o.Depth), o.OneThread, o.KeepProcessor)
	case EngineGiouring:
		if o.KeepProcessor {
			return nil, fmt.Errorf("io_uring: engine %s makes its own system calls: it cannot keep the processor (Options.KeepProcessor)", EngineGiouring)
		}
		return newGiouring(sys, uint32(o.Depth), o.OneThread)
	}
	return nil, fmt.Errorf("io_uring: no engine %q: there are %s and %s", o.Engine, EngineRing, EngineGiouring)
}
