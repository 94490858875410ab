module github.com/haven-mem/haven/stress

go 1.24

require (
	github.com/anishathalye/porcupine v1.3.1
	github.com/haven-mem/haven v0.1.0
)
