module github.com/haven-mem/haven/bench/peers

go 1.24

require (
	github.com/haven-mem/haven v0.1.0
	github.com/haven-mem/haven/bench v0.1.0
	github.com/ortuman/nuke v1.3.0
)

require (
	github.com/aclements/go-moremath v0.0.0-20210112150236-f10218a38794 // indirect
	golang.org/x/perf v0.0.0-20250710210952-7b7c2de18447 // indirect
	golang.org/x/sys v0.35.0 // indirect
	golang.org/x/term v0.34.0 // indirect
)
