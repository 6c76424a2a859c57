package lockspec_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/lockspec"
)

// Reading the fields of a body costs at most about twice what the handler's decoder takes for it:
//
//	go test ./lockspec -run='^$' -bench=JSON
func BenchmarkJSONFields(b *testing.B) {
	for _, body := range jsonBodies() {
		data := []byte(body.text)
		b.Run(body.what+"/fields", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := lockspec.JSONFields(data, "name", "target.parent_id"); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(body.what+"/decoder", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				var decoded struct {
					Name   string `json:"name"`
					Target struct {
						ParentID int64 `json:"parent_id"`
					} `json:"target"`
				}
				if err := json.Unmarshal(data, &decoded); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

type jsonBody struct{ what, text string }

func jsonBodies() []jsonBody {
	steps := strings.Repeat(`{"action": "open the page", "expected": "it says \"hello\"", "timeout": 30, "tags": ["a", "b"]},`, 200)
	var keys strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&keys, `"key %d":%d,`, i, i)
	}
	return []jsonBody{
		{"a rename", `{"name":"new name","target":{"parent_id":17}}`},
		{"a test case of 18 kB", `{"steps":[` + steps + `{}],"name":"login","target":{"parent_id":17}}`},
		{"a text of 100 kB", `{"name":"login","text":"` + strings.Repeat("lorem ipsum ", 8000) + `"}`},
		{"100,000 keys", `{` + keys.String() + `"name":"x"}`},
	}
}

// A body of many keys costs no more for each of them than one of few. If each key were compared with
// each, the factor would be a hundred, however often it is measured. A machine that is busy with
// other things may need a few tries to show that it is not.
func TestJSONFieldsTakesTimeInProportion(t *testing.T) {
	perKey := func(keys int) time.Duration {
		body := []byte(`{` + manyKeys(keys) + `"name":"x"}`)
		start := time.Now()
		if _, err := lockspec.JSONFields(body, "name"); err != nil {
			t.Fatal(err)
		}
		return time.Since(start) / time.Duration(keys)
	}
	const tries, factor = 50, 20
	few, many := time.Hour, time.Hour
	for range tries {
		few = min(few, perKey(1000))
	}
	for range tries {
		if many = min(many, perKey(100_000)); many <= factor*few {
			return
		}
	}
	t.Errorf("a key of 1,000 takes %v, one of 100,000 %v", few, many)
}
