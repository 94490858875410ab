package memctx_test

import (
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/memctx"
)

// A request that needs no memory.
func BenchmarkRequest(b *testing.B) {
	server := memctx.New("server")
	defer server.Delete()
	b.ReportAllocs()
	for b.Loop() {
		request := server.Child("request")
		request.Delete()
	}
}

// A request that allocates, in a warm arena.
func BenchmarkRequestArena(b *testing.B) {
	server := memctx.New("server")
	defer server.Delete()
	b.ReportAllocs()
	for b.Loop() {
		request := server.Child("request")
		arena.New[int](request.Arena())
		request.Delete()
	}
}

// The same below two limits.
func BenchmarkRequestLimits(b *testing.B) {
	server := memctx.New("server", memctx.Config{Limit: 1 << 30})
	defer server.Delete()
	b.ReportAllocs()
	for b.Loop() {
		request := server.Child("request", memctx.Config{Limit: 1 << 20})
		arena.New[int](request.Arena())
		request.Delete()
	}
}
