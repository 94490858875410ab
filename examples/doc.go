// Package examples is a module of small programs that use Haven. Each runs by
// itself and has a test that compares what it prints:
//
//	go run ./examples/request    a server's loop with a pool of arenas
//	go run ./examples/parser     expressions, with marks to take back scratch trees
//	go run ./examples/index      an inverted index that the collector does not scan
//	go run ./examples/limit      untrusted input under a limit
//	go run ./examples/sessions   objects and buffers with a bound, used again
//	go run ./examples/lru        a linked list that the collector does not see
//	go run ./examples/gateway    an order gateway with all of these, and its load generator
package examples
