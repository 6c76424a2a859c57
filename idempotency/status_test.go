package idempotency_test

import (
	"testing"

	"github.com/pathlock-go/pathlock/idempotency"
)

func TestAnswersThatDependOnOtherHeadersAreNotRecorded(t *testing.T) {
	for _, status := range []int{206, 406, 411, 415, 416, 417, 431} {
		if idempotency.RecordsStatus(status) {
			t.Errorf("%d is recorded", status)
		}
	}
}
