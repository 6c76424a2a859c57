package lockspec_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/lockspec"
)

func TestJSONValues(t *testing.T) {
	null := []string{"null"}
	for _, c := range []struct {
		body, field string
		want        []string // null where it is that
		says        string
	}{
		{`{"id":18446744073709551617,"b":-1.50}`, "id", []string{"18446744073709551617"}, ""},
		{`{"id":1,"b":-1.50 }`, "b", []string{"-1.50"}, ""},
		{`{"b": 1e3}`, "b", []string{"1e3"}, ""},
		{`{"a":{"id":1},"id":2,"b":{"id":3,"c":{"d":0}}}`, "a.id", []string{"1"}, ""},
		{`{"a":{"id":1},"id":2,"b":{"id":3,"c":{"d":0}}}`, "id", []string{"2"}, ""},
		{`{"a":{"id":1},"id":2,"b":{"id":3,"c":{"d":0}}}`, "b.c.d", []string{"0"}, ""},
		{`{"a":{"id":1},"id":2,"b":{"id":3,"c":{"d":0}}}`, "b.x", nil, ""},
		{`{"TASK":"x"}`, "task", nil, `task: the key "TASK" must be spelt "task"`}, // a map has no such key
		{`{"TO":{"id":7}}`, "to.id", nil, `to.id: the key "TO" must be spelt "to"`},
		{`{"labels":{"os":1,"OS":2},"b":1,"b":2,"name":"x"}`, "name", []string{"x"}, ""},
		{`{"a":null,"to":null}`, "a", null, ""},
		{`{"a":null,"to":null}`, "to.id", nil, ""},
		{`{"a":null,"to":null}`, "c.d", nil, ""},
		{`null`, "a", nil, ""},
		{"{\"name\":\"\ufffd\"}", "name", []string{"\ufffd"}, ""},
		{`{"name":"caf\u00e9"}`, "name", []string{"café"}, ""},
		{`{"name":"\ufffd\\ud83d\uD83D\ude00"}`, "name", []string{"\ufffd\\ud83d😀"}, ""},

		{`{"name":{"name":"x"}}`, "name", nil, "name: is neither text nor a number"},
		{`{"name":true}`, "name", nil, "name: is neither text nor a number"},
		{`{"to":"x"}`, "to.id", nil, `to.id: "to" is not an object`},
		{`[{"name":"x"}]`, "name", nil, "the body is not a JSON object"},
		{`{"name":null,"n\u0061me":"y"}`, "name", nil, `name: the key "name" occurs twice`},
		{`{"to":{"id":1},"To":{}}`, "to.id", nil, `to.id: the key "To" occurs twice`},
		{"{\"id\":1,\"\u0130d\":2}", "id", nil, "id: the key \"\u0130d\" occurs twice"}, // as sonic and jsoniter have it
		{"{\"\u0130d\":2}", "id", nil, "id: the key \"\u0130d\" must be spelt"},
		{"{\"ta\u017fk\":2}", "task", nil, "must be spelt"}, // which encoding/json alone takes for task

		// keys that jsoniter takes for the names, and go-json
		{`{"parent_id":4,"\u015c\u9593\ud960\udfc9\udaa3\ude9a":9}`, "parent_id", nil, "occurs twice"},
		{`{"parent_id":4,"P\u0061":9}`, "parent_id", nil, "occurs twice"},
		{`{"é\u03bf\u2375\udbaa\udfe6\udab8\udd21":9}`, "id", nil, "must be spelt \"id\""},
		{`{"` + strings.Repeat("k", 100_000) + `":1,"` + strings.Repeat("k", 100_000) + `":2}`, strings.Repeat("k", 100_000), nil, "occurs twice"},
		{" \n", "name", nil, "the body is empty"},
		{`{"name":"x",}`, "name", nil, "malformed JSON near byte 13"},
		{`{"name":"x"}{"name":"y"}`, "name", nil, "malformed JSON near byte 13"},
		{"{\"name\":\"\xff\"}", "name", nil, "not valid UTF-8"},
		{`{"name":"a\ud83d"}`, "name", nil, "name: has half of a surrogate pair"},
		{`{"name":"\ud83d\\ude00"}`, "name", nil, "name: has half of a surrogate pair"},
		{`{"name":"\ud83d\ud83d\ude00"}`, "name", nil, "name: has half of a surrogate pair"},

		{`{"to":{"ids":[1, "a", 18446744073709551617]}}`, "to.ids[]", []string{"1", "a", "18446744073709551617"}, ""},
		{`{"to":{"ids":[]}}`, "to.ids[]", nil, ""},
		{`{"to":null}`, "to.ids[]", nil, ""},
		{`{"to":{"ids":null}}`, "to.ids[]", null, ""},
		{`{"to":{"ids":7}}`, "to.ids[]", nil, "to.ids: is not a list"},
		{`{"to":{"ids":{}}}`, "to.ids[]", nil, "to.ids: is not a list"},
		{`{"to":{"ids":[1, null]}}`, "to.ids[]", nil, "to.ids: is neither text nor a number"},
		{`{"to":{"ids":[[1]]}}`, "to.ids[]", nil, "to.ids: is neither text nor a number"},
		{`{"to":{"ids":["\ud83d"]}}`, "to.ids[]", nil, "to.ids: has half of a surrogate pair"},
		{`{"to":{"ids":[1],"Ids":[2]}}`, "to.ids[]", nil, "occurs twice"},
		{`{"to":{"ids":[1]}`, "to.ids[]", nil, "malformed JSON"},
	} {
		source := lockspec.JSON(c.field)
		if name, ok := strings.CutSuffix(c.field, "[]"); ok {
			source = lockspec.JSON(name).Each()
		}
		values, err := lockspec.JSONValues([]byte(c.body), source)
		if errors.Is(err, lockspec.ErrNull) && values == nil {
			values, err = null, nil
		}
		what := c.body[:min(len(c.body), 60)] + " " + c.field[:min(len(c.field), 60)]
		switch {
		case c.says == "" && (err != nil || !slices.Equal(values, c.want)):
			t.Errorf("%s: got %q, %v; want %q", what, values, err, c.want)
		case c.says != "" && (!errors.Is(err, lockspec.ErrInvalid) || !strings.Contains(err.Error(), c.says) || values != nil):
			t.Errorf("%s: got %q, %v; want an error that says %q", what, values, err, c.says)
		case err != nil && len(c.field) < 100 && len(err.Error()) > 200:
			t.Errorf("%s: got an error of %d bytes", what, len(err.Error()))
		}
	}
}

// Wherever JSONValues finds a value or none, the decoder that a handler is most likely to use finds
// the same one. Both call the same bodies malformed.
func TestJSONValuesAgreeWithTheDecoder(t *testing.T) { rapid.Check(t, compareWithDecoder) }

func FuzzJSONValuesAgreeWithTheDecoder(f *testing.F) { f.Fuzz(rapid.MakeFuzz(compareWithDecoder)) }

func compareWithDecoder(t *rapid.T) {
	var decoded struct {
		Task json.RawMessage `json:"task"`
		To   struct {
			Task json.RawMessage `json:"task"`
		} `json:"to"`
	}
	body := []byte(anyJSON(3).Draw(t, "body"))
	if at := rapid.IntRange(-3*len(body), len(body)-1).Draw(t, "at"); at >= 0 {
		body[at] = rapid.SampledFrom([]byte("\"\\{}[],:0-.eE+tnu \x00\n\xff")).Draw(t, "byte")
	}
	decodeErr := json.Unmarshal(body, &decoded)
	for field, raw := range map[string]*json.RawMessage{"task": &decoded.Task, "to.task": &decoded.To.Task} {
		values, err := lockspec.JSONValues(body, lockspec.JSON(field))
		null := errors.Is(err, lockspec.ErrNull)
		if err != nil && (values != nil || !null && !errors.Is(err, lockspec.ErrInvalid)) {
			t.Fatalf("%q: got %v beside %v", body, err, values)
		}
		if malformed := err != nil && strings.Contains(err.Error(), "malformed"); malformed != !json.Valid(body) && (err == nil || malformed) {
			t.Fatalf("%q: got %v", body, err)
		}
		if err != nil && !null || decodeErr != nil {
			continue // The one refuses what the other takes where it has more than one meaning.
		}
		var want []string
		switch text := string(*raw); {
		case text == "" || text == "null":
		case text[0] == '"':
			testerr.Must(t, json.Unmarshal(*raw, &text))
			want = []string{text}
		default:
			want = []string{text}
		}
		if null != (string(*raw) == "null") || !slices.Equal(values, want) {
			t.Fatalf("%q: %s: got %q, %v; the decoder has %s", body, field, values, err, *raw)
		}
	}
}

// anyJSON generates JSON values in the spellings that matter, which nest from the given depth to 3.
func anyJSON(depth int) *rapid.Generator[string] {
	keys := rapid.SampledFrom([]string{`task`, `TASK`, `to`, `To`, `\u0074ask`, `a`, `\ud83d\ude00`, ``, "ta\u017f\u212a"})
	texts := rapid.SliceOfN(rapid.SampledFrom([]string{`x`, `é`, `\u00e9`, `\n`, `\"`, `\\`, `\ud83d\uDE00`, `\ud83d`, `\udc00`, `\ufffd`, ` `}), 0, 3)
	scalars := rapid.SampledFrom([]string{`1`, `-0`, `1.50`, `0.1E-7`, `true`, `null`})
	return rapid.Custom(func(t *rapid.T) string {
		space := rapid.SampledFrom([]string{"", "", " ", "\n\t"}).Draw(t, "space")
		kind := rapid.IntRange(0, 5).Draw(t, "kind")
		if depth == 3 {
			kind = 0
		}
		var items []string
		for range rapid.IntRange(0, 4).Draw(t, "items") {
			switch {
			case depth == 0:
			case kind < 3:
				items = append(items, `"`+keys.Draw(t, "key")+`"`+space+`:`+anyJSON(depth-1).Draw(t, "value"))
			case kind == 3:
				items = append(items, anyJSON(depth-1).Draw(t, "item"))
			}
		}
		switch {
		case kind < 3 && depth > 0:
			return space + `{` + strings.Join(items, ",") + space + `}`
		case kind == 3 && depth > 0:
			return `[` + strings.Join(items, ",") + `]` + space
		case kind == 4:
			return space + `"` + strings.Join(texts.Draw(t, "text"), "") + `"`
		default:
			return scalars.Draw(t, "scalar") + space
		}
	})
}
