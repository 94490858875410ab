module github.com/haven-mem/haven/cmd/haven

go 1.24

require github.com/haven-mem/haven v0.0.0

require (
	golang.org/x/perf v0.0.0-20250710210952-7b7c2de18447 // indirect
	golang.org/x/sys v0.35.0 // indirect
	golang.org/x/term v0.34.0 // indirect
)

replace github.com/haven-mem/haven => ../..
