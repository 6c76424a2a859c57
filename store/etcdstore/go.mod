module github.com/pathlock-go/pathlock/store/etcdstore

go 1.26.0
