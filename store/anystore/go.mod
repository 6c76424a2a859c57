module github.com/pathlock-go/pathlock/store/anystore

go 1.26.0
