module github.com/pathlock-go/pathlock/store/sqlstore

go 1.26.0
