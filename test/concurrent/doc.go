// Package concurrent has tests of slabs, pools and memory contexts under concurrent
// use, which look at what the packages promise from outside. It has tests only.
//
//   - TestLinearizable records short concurrent histories and has porcupine look
//     for an order of the operations in which each object has one owner at a time
//     and a capacity is kept exactly. TestPlanted shows that the checker finds
//     the bugs it is there for.
//   - TestExactlyOnce passes two million objects among ten Ps while GOMAXPROCS
//     changes. Each object carries a mark of its owner.
//   - TestIsolation has short requests go through the warm memory of others, whose
//     secrets they must not see.
//   - TestTransfer is a stress in the style of the suites of malloc (mimalloc's
//     test-stress, larson, xmalloc): goroutines come and go, fill memory of many
//     sizes with cookies, swap it with each other, and verify it before they free
//     it, without and with garbage collections all the time.
//
// All run with go test, in some seconds; under -race the first three do a
// quarter, and with -short a tenth. TestTransfer has a flag for how long it takes, two
// seconds by default:
//
//	go test ./test/concurrent -run TestTransfer -duration=5m
//	go test -race ./test/concurrent -run TestTransfer -duration=20s
//
// and -seed=2 has its goroutines make other choices than -seed=1.
package concurrent
