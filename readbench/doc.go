// Package readbench measures ways of reading a file, and proves that each number means what its label says. It is the entrance:
// what a Benchmark function calls, and the runner behind it.
//
// A test binary with benchmarks has a TestMain whose body is Main. A Benchmark function of a workload gets the Suite, made on
// the first call from READBENCH_* variables (package config), and has it Run rows:
//
//	func TestMain(m *testing.M) { readbench.Main(m) }
//
//	func BenchmarkMine(b *testing.B) {
//		suite := readbench.Start(b)
//		for _, pageCase := range suite.Config().Cases {
//			suite.Run(b, readbench.Row{Strategy: mine{}, Case: pageCase, Threads: 4, Batch: 16, MaxRange: 16 << 10})
//		}
//	}
//
// A Row is one line of a result: a strategy (package strategy has the contract, package strategies the built-in ones), a state of
// the page cache, a number of threads, and what one op does. Most people need no row of their own: random.Run, sequential.Run and
// the other workloads make them.
//
// An op is run by a Worker, which draws ranges and reads them. A workload whose ops are not reads at places that the core draws
// says so in the row: Predrawn ops take ranges from a list, ops with Units find and check what they read themselves, and
// one with Drive runs a Session in periods of its own.
package readbench
