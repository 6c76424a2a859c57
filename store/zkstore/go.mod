module github.com/pathlock-go/pathlock/store/zkstore

go 1.26.0

require (
	github.com/pathlock-go/pathlock v0.0.0
	go.uber.org/goleak v1.3.0
)

require golang.org/x/text v0.43.0 // indirect
