package lockstore

import (
	"context"
	"errors"
)

func openRedis(_ context.Context, url string) (*Store, error) {
	return nil, errors.New("redis: " + url)
}
