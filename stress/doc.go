// Package stress has tests of the slabs and pools under concurrent use. They
// look at what the packages promise from outside, and need a module of their own
// because one of them needs a checker that the root module does not require. Random
// programs over all packages are a command, haven stress.
//
//   - TestLinearizable records short concurrent histories and has porcupine look
//     for an order of the operations in which each object has one owner at a time
//     and a capacity is kept exactly. TestPlanted shows that the checker finds
//     the bugs it is there for.
//   - TestExactlyOnce passes two million objects among ten Ps while GOMAXPROCS
//     changes. Each object carries a mark of its owner.
//   - TestTransfer is a stress in the style of the suites of malloc (mimalloc's
//     test-stress, larson, xmalloc): goroutines come and go, fill memory of many
//     sizes with cookies, swap it with each other, and verify it before they free
//     it, without and with garbage collections all the time.
//
// All run with go test, in some seconds; under -race the first two do a quarter,
// and with -short a tenth. TestTransfer has a flag for how long it
// takes, two seconds by default:
//
//	go test ./stress -run TestTransfer -duration=5m
//	go test -race ./stress -run TestTransfer -duration=20s
//
// and -seed=2 has its goroutines make other choices than -seed=1.
package stress
