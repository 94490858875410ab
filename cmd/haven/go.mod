module github.com/haven-mem/haven/cmd/haven

go 1.24

require github.com/haven-mem/haven v0.0.0

replace github.com/haven-mem/haven => ../..
