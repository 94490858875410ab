module github.com/haven-mem/haven/examples

go 1.24

require (
	github.com/HdrHistogram/hdrhistogram-go v1.4.0
	github.com/haven-mem/haven v0.1.0
)
