module github.com/pathlock-go/pathlock/store/zkstore

go 1.26.0

require (
	github.com/cenkalti/backoff/v5 v5.0.3
	github.com/go-zookeeper/zk v1.0.4
	github.com/pathlock-go/pathlock v0.0.0
	golang.org/x/sync v0.25.0
)

require (
	filippo.io/edwards25519 v1.2.0 // indirect
	github.com/go-sql-driver/mysql v1.10.1 // indirect
	go.uber.org/goleak v1.3.0 // indirect
	golang.org/x/text v0.44.0 // indirect
)
