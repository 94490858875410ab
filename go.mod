module github.com/haven-mem/haven

go 1.24
