// Command product says which product the server of a DSN is: MariaDB or MySQL.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

func main() {
	if len(os.Args) != 2 {
		fail("usage: product DSN")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	product, err := testserver.Product(ctx, os.Args[1])
	if err != nil {
		fail(err)
	}
	fmt.Println(product)
}

func fail(why any) {
	fmt.Fprintln(os.Stderr, why)
	os.Exit(1)
}
