module github.com/pathlock-go/pathlock/store/zkstore

go 1.26.0
