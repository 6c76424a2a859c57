// Command etcdserver is etcd, as its module builds it, for the tests of package etcdstore.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
