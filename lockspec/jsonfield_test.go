package lockspec_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pathlock-go/pathlock/lockspec"
)

func TestJSONFields(t *testing.T) {
	text := func(s string) lockspec.JSONValue { return lockspec.JSONValue{Text: s, OK: true} }
	none, null := lockspec.JSONValue{}, lockspec.JSONValue{Null: true}
	for _, c := range []struct {
		body   string
		fields string // with spaces between them
		want   []lockspec.JSONValue
		says   string
	}{
		{`{"id":18446744073709551617,"b":-1.50,"c":1e3}`, "id b c", []lockspec.JSONValue{text("18446744073709551617"), text("-1.50"), text("1e3")}, ""},
		{`{"a":{"id":1},"id":2,"b":{"id":3,"c":{"d":0}}}`, "a.id b.c.d b.id id b.x", []lockspec.JSONValue{text("1"), text("0"), text("3"), text("2"), none}, ""},
		{"{\"ta\u017f\u212a\":\"x\",\"TO\":{\"ID\":7}}", "task to.id", []lockspec.JSONValue{text("x"), text("7")}, ""},
		{`{"labels":{"os":1,"OS":2},"b":1,"b":2,"name":"x"}`, "name", []lockspec.JSONValue{text("x")}, ""},
		{`{"a":null,"to":null}`, "a b to.id c.d", []lockspec.JSONValue{null, none, none, none}, ""},
		{`null`, "a", []lockspec.JSONValue{none}, ""},
		{"{\"name\":\"\ufffd\"}", "name", []lockspec.JSONValue{text("\ufffd")}, ""},

		{`{"name":{"name":"x"}}`, "name", nil, "name: is neither text nor a number"},
		{`{"a":{"b":1}}`, "a.b a", nil, "a: is neither text nor a number"},
		{`{"to":"x"}`, "to.id", nil, `to.id: "to" is not an object`},
		{`[{"name":"x"}]`, "name", nil, "the body is not a JSON object"},
		{`{"name":null,"n\u0061me":"y"}`, "name", nil, `name: the key "name" occurs twice`},
		{`{"to":{"id":1},"To":{}}`, "to.id", nil, `to.id: the key "To" occurs twice`},
		{`{"` + strings.Repeat("k", 100_000) + `":1,"` + strings.Repeat("k", 100_000) + `":2}`, strings.Repeat("k", 100_000), nil, "occurs twice"},
		{" \n", "name", nil, "the body is empty"},
		{`{"name":"x",}`, "name", nil, "malformed JSON near byte 13"},
		{`{"name":"x"}{"name":"y"}`, "name", nil, "malformed JSON near byte 13"},
		{"{\"name\":\"\xff\"}", "name", nil, "not valid UTF-8"},
		{`{"name":"a\ud83d"}`, "name", nil, "name: has half of a surrogate pair"},
	} {
		values, err := lockspec.JSONFields([]byte(c.body), strings.Fields(c.fields)...)
		what := c.body[:min(len(c.body), 60)]
		switch {
		case c.says == "" && (err != nil || !slices.Equal(values, c.want)):
			t.Errorf("%s: got %v, %v; want %v", what, values, err, c.want)
		case c.says == "":
		case !errors.Is(err, lockspec.ErrInvalid) || !strings.Contains(err.Error(), c.says) || values != nil:
			t.Errorf("%s: got %v, %v; want an error that says %q", what, values, err, c.says)
		case len(c.fields) < 100 && len(err.Error()) > 200:
			t.Errorf("%s: got an error of %d bytes", what, len(err.Error()))
		}
	}
}

func TestJSONList(t *testing.T) {
	for _, c := range []struct {
		body string
		want []string
		says string
	}{
		{`{"to":{"IDS":[1, "a", 18446744073709551617]}}`, []string{"1", "a", "18446744073709551617"}, ""},
		{`{"to":{"ids":[]}}`, nil, ""},
		{`{"to":{"ids":null}}`, nil, ""},
		{`{"to":null}`, nil, ""},
		{`{"to":{"ids":7}}`, nil, "to.ids: is not a list"},
		{`{"to":{"ids":{}}}`, nil, "to.ids: is not a list"},
		{`{"to":{"ids":[1, null]}}`, nil, "to.ids: has a null in its list"},
		{`{"to":{"ids":[[1]]}}`, nil, "to.ids: is neither text nor a number"},
		{`{"to":{"ids":["\ud83d"]}}`, nil, "to.ids: has half of a surrogate pair"},
		{`{"to":{"ids":[1],"Ids":[2]}}`, nil, "occurs twice"},
		{`{"to":{"ids":[1]}`, nil, "malformed JSON"},
	} {
		items, err := lockspec.JSONList([]byte(c.body), "to.ids")
		switch {
		case c.says == "" && (err != nil || !slices.Equal(items, c.want)):
			t.Errorf("%s: got %q, %v; want %q", c.body, items, err, c.want)
		case c.says != "" && (!errors.Is(err, lockspec.ErrInvalid) || !strings.Contains(err.Error(), c.says) || items != nil):
			t.Errorf("%s: got %q, %v; want an error that says %q", c.body, items, err, c.says)
		}
	}
}

func TestJSONTextIsThatOfAString(t *testing.T) {
	for value, want := range map[string]string{`"caf\u00e9"`: "café", `7`: "", `"\ud83d"`: ""} {
		if text, err := lockspec.JSONText([]byte(value)); text != want || errors.Is(err, lockspec.ErrInvalid) != (want == "") {
			t.Errorf("%s: got %q, %v", value, text, err)
		}
	}
}

// Wherever JSONFields finds a value or none, the decoder that a handler is most likely to use finds
// the same one. What either calls malformed is malformed to both.
func TestJSONFieldsAgreeWithTheDecoder(t *testing.T) { rapid.Check(t, compareWithDecoder) }

func FuzzJSONFieldsAgreeWithTheDecoder(f *testing.F) { f.Fuzz(rapid.MakeFuzz(compareWithDecoder)) }

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
	values, err := lockspec.JSONFields(body, "task", "to.task")
	if err == nil != (values != nil) || err != nil && !errors.Is(err, lockspec.ErrInvalid) {
		t.Fatalf("%q: got %v beside %v", body, err, values)
	}
	if malformed := err != nil && strings.Contains(err.Error(), "malformed"); malformed != !json.Valid(body) && (err == nil || malformed) {
		t.Fatalf("%q: got %v", body, err)
	}
	if err != nil || decodeErr != nil {
		return // The one refuses what the other takes where it has more than one meaning.
	}
	for i, raw := range []json.RawMessage{decoded.Task, decoded.To.Task} {
		want := lockspec.JSONValue{}
		switch text := string(raw); {
		case text == "":
		case text == "null":
			want.Null = true
		case text[0] == '"':
			want.OK = true
			if err := json.Unmarshal(raw, &want.Text); err != nil {
				t.Fatal(err)
			}
		default:
			want = lockspec.JSONValue{Text: text, OK: true}
		}
		if values[i] != want {
			t.Fatalf("%q: got %+v; the decoder has %+v", body, values[i], want)
		}
	}
}

// anyJSON generates JSON values that nest at most so deep, in the spellings that matter.
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
