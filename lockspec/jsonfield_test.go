package lockspec_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/lockspec"
)

func TestJSONField(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, c := range []struct {
		what, body, field string
		// want is the value, missing where there is none and no error either.
		want string
		// says is what the error says.
		says string
	}{
		{"text", `{"name":"x"}`, "name", "x", ""},
		{"empty text", `{"name":""}`, "name", "", ""},
		{"escapes", `{"n\u0061me":"\u00e4\n\"/"}`, "name", "ä\n\"/", ""},
		{"among others", ` {"a":[1,{"name":"no"}],"b":{"name":"no"},"name":"yes","c":true} `, "name", "yes", ""},
		{"a number", `{"id":42}`, "id", "42", ""},
		{"a number beyond float64", `{"id":9007199254740993}`, "id", "9007199254740993", ""},
		{"a number beyond int64", `{"id":18446744073709551617}`, "id", "18446744073709551617", ""},
		{"a negative number", `{"id":-1}`, "id", "-1", ""},
		{"a fraction, literally", `{"id":1.50}`, "id", "1.50", ""},
		{"an exponent, literally", `{"id":1e3}`, "id", "1e3", ""},
		{"a dotted field", `{"to":{"parent":{"id":7}},"id":8}`, "to.parent.id", "7", ""},
		{"another case", `{"Name":"x"}`, "name", "x", ""},
		{"another case on the way", `{"TO":{"ID":7}}`, "to.id", "7", ""},
		{"another letter that folds alike", "{\"ta\u017f\u212a\":\"x\"}", "task", "x", ""},
		{"missing", `{"id":1}`, "name", missing, ""},
		{"missing in an empty object", `{}`, "name", missing, ""},
		{"null", `{"name":null}`, "name", missing, ""},
		{"a null body", `null`, "name", missing, ""},
		{"missing on the way", `{"x":1}`, "to.id", missing, ""},
		{"null on the way", `{"to":null}`, "to.id", missing, ""},
		{"the same key elsewhere", `{"a":{"name":1},"b":[{"name":2}],"name":"x"}`, "name", "x", ""},
		{"two cases elsewhere", `{"labels":{"os":1,"OS":2},"name":"x"}`, "name", "x", ""},
		{"deep enough", `{"x":` + nested(lockspec.MaxJSONDepth-1) + `,"name":"x"}`, "name", "x", ""},

		{"true", `{"name":true}`, "name", "", "name: is neither text nor a number"},
		{"an object", `{"name":{"name":"x"}}`, "name", "", "name: is neither text nor a number"},
		{"an array", `{"name":["x"]}`, "name", "", "name: is neither text nor a number"},
		{"text on the way", `{"to":"x"}`, "to.id", "", `to.id: "to" is not an object`},
		{"a number on the way", `{"to":5}`, "to.id", "", `to.id: "to" is not an object`},
		{"false on the way", `{"to":false}`, "to.id", "", `to.id: "to" is not an object`},
		{"an array on the way", `{"to":[{"id":1}]}`, "to.id", "", `to.id: "to" is not an object`},
		{"an array for a body", `[{"name":"x"}]`, "name", "", "the body is not a JSON object"},
		{"text for a body", `"name"`, "name", "", "the body is not a JSON object"},
		{"a duplicate", `{"name":"x","name":"y"}`, "name", "", `name: the key "name" occurs twice`},
		{"an equal duplicate", `{"name":"x","name":"x"}`, "name", "", `name: the key "name" occurs twice`},
		{"a duplicate of null", `{"name":null,"name":"x"}`, "name", "", `name: the key "name" occurs twice`},
		{"a duplicate, escaped", `{"name":"x","n\u0061me":"y"}`, "name", "", `name: the key "name" occurs twice`},
		{"a duplicate in another case", `{"name":"x","NAME":"y"}`, "name", "", `name: the key "NAME" occurs twice`},
		{"both in another case", `{"Name":"x","NAME":"y"}`, "name", "", `name: the key "NAME" occurs twice`},
		{"a duplicate on the way", `{"to":{"id":1},"To":{"id":2}}`, "to.id", "", `to.id: the key "To" occurs twice`},
		{"a duplicate on the way, one without it", `{"to":{"id":1},"To":{}}`, "to.id", "", `to.id: the key "To" occurs twice`},
		{"a duplicate elsewhere", `{"name":"x","a":{"b":1,"b":2}}`, "name", "", `the key "b" occurs twice`},
		{"a duplicate behind the field", `{"name":"x","b":1,"b":2}`, "name", "", `the key "b" occurs twice`},
		{"empty", ``, "name", "", "the body is empty"},
		{"blank", " \n", "name", "", "the body is empty"},
		{"cut off", `{"name":"x"`, "name", "", "malformed JSON: it ends too early"},
		{"cut off in an array", `{"a":[1,`, "name", "", "malformed JSON: it ends too early"},
		{"cut off in a string", `{"name":"x`, "name", "", "malformed JSON: it ends too early"},
		{"cut off in an escape", `{"name":"\u00`, "name", "", "malformed JSON: it ends too early"},
		{"cut off in a number", `{"name":-`, "name", "", "malformed JSON: it ends too early"},
		{"cut off in a word", `{"name":tru`, "name", "", "malformed JSON: it ends too early"},
		{"no colon", `{"name" "x"}`, "name", "", "malformed JSON at byte 9"},
		{"a control character", "{\"name\":\"a\nb\"}", "name", "", "malformed JSON at byte 11"},
		{"an escape that is none", `{"name":"\x41"}`, "name", "", "malformed JSON at byte 11"},
		{"another word", `{"name":nil}`, "name", "", "malformed JSON at byte 10"},
		{"a trailing comma", `{"name":"x",}`, "name", "", "malformed JSON"},
		{"a trailing comma in an array", `{"name":"x","a":[1,]}`, "name", "", "malformed JSON"},
		{"a key that is no text", `{1:2}`, "name", "", "malformed JSON"},
		{"a leading zero", `{"name":01}`, "name", "", "malformed JSON"},
		{"not a number", `{"name":NaN}`, "name", "", "malformed JSON"},
		{"a second value", `{"name":"x"}{"name":"y"}`, "name", "", "something behind"},
		{"something behind", `{"name":"x"} ,`, "name", "", "something behind"},
		{"wrong type in what is no JSON", `{"name":true`, "name", "", "malformed JSON"},
		{"a byte order mark", "\uFEFF{}", "name", "", "malformed JSON"},
		{"not UTF-8", "{\"name\":\"\xff\"}", "name", "", "not valid UTF-8"},
		{"not UTF-8 elsewhere", "{\"name\":\"x\",\"\xc0\xaf\":1}", "name", "", "not valid UTF-8"},
		{"half a pair", `{"name":"a\ud83d"}`, "name", "", "name: has half of a surrogate pair"},
		{"the other half", `{"name":"\ude00b"}`, "name", "", "name: has half of a surrogate pair"},
		{"the halves the wrong way round", `{"name":"\ude00\ud83d"}`, "name", "", "name: has half of a surrogate pair"},
		{"half a pair before an escape", `{"name":"\ud83d\n"}`, "name", "", "name: has half of a surrogate pair"},
		{"half a pair before no half", `{"name":"\ud83d\u0041"}`, "name", "", "name: has half of a surrogate pair"},
		{"half a pair before a pair", `{"name":"\ud83d\ud83d\ude00"}`, "name", "", "name: has half of a surrogate pair"},
		{"half a pair on the way", `{"to":{"id":"\uDFFF"}}`, "to.id", "", "to.id: has half of a surrogate pair"},
		{"half a pair in a key", `{"name":"x","\ud83d":1}`, "name", "", "has half of a surrogate pair"},
		{"half a pair in a key elsewhere", `{"name":"x","a":[{"\udc00":1}]}`, "name", "", "has half of a surrogate pair"},
		{"a pair", `{"name":"\ud83d\uDE00"}`, "name", "😀", ""},
		{"half a pair in what is not read", `{"name":"x","text":"\ud83d"}`, "name", "x", ""},
		{"the replacement character itself", `{"name":"\ufffd�"}`, "name", "��", ""},
		{"a duplicate among many", `{` + manyKeys(1000) + `"name":"x","k7":1}`, "name", "", `the key "k7" occurs twice`},
		{"many keys", `{` + manyKeys(1000) + `"name":"x"}`, "name", "x", ""},
		{"many keys in each of two objects", `{"a":{` + manyKeys(40) + `"x":{` + manyKeys(40) + `"y":1}},"name":"x"}`, "name", "x", ""},
		{"a duplicate around many", `{"a":1,"b":{` + manyKeys(40) + `"y":1},"a":2}`, "name", "", `the key "a" occurs twice`},
		{"too deep", `{"x":` + nested(lockspec.MaxJSONDepth) + `,"name":"x"}`, "name", "", "nests deeper than 100"},
		{"far too deep", strings.Repeat("[", 1_000_000), "name", "", "nests deeper than 100"},
	} {
		t.Run(c.what, func(t *testing.T) {
			value, ok, err := lockspec.JSONField([]byte(c.body), c.field)
			switch {
			case c.says != "":
				if !errors.Is(err, lockspec.ErrInvalid) || !strings.Contains(err.Error(), c.says) || ok || value != "" {
					t.Errorf("got %q, %t, %v; want an error that says %q", value, ok, err, c.says)
				}
			case err != nil:
				t.Errorf("got %v", err)
			case c.want == missing:
				if ok || value != "" {
					t.Errorf("got %q, want nothing", value)
				}
			case value != c.want || !ok:
				t.Errorf("got %q, %t, want %q", value, ok, c.want)
			}
		})
	}
}

// manyKeys is the beginning of an object that has the keys k0, k1, and so on.
func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"k%d":%d,`, i, i)
	}
	return b.String()
}

// missing is the want of a field that is not there. No test has such a value.
const missing = "\x00missing"

func TestJSONFieldsFindsSeveralAtOnce(t *testing.T) {
	text := func(s string) lockspec.JSONValue { return lockspec.JSONValue{Text: s, OK: true} }
	none, null := lockspec.JSONValue{}, lockspec.JSONValue{Null: true}
	for _, c := range []struct {
		what, body string
		fields     []string
		want       []lockspec.JSONValue
		says       string
	}{
		{"in another order", `{"b":2,"a":1}`, []string{"a", "b"}, []lockspec.JSONValue{text("1"), text("2")}, ""},
		{"in one object", `{"to":{"id":1,"name":"x"}}`, []string{"to.name", "to.id"}, []lockspec.JSONValue{text("x"), text("1")}, ""},
		{"in several", `{"a":{"id":1},"id":2,"b":{"id":3}}`, []string{"a.id", "b.id", "id"}, []lockspec.JSONValue{text("1"), text("3"), text("2")}, ""},
		{"on one way", `{"a":{"b":{"c":1},"d":2}}`, []string{"a.b.c", "a.d", "a.e"}, []lockspec.JSONValue{text("1"), text("2"), none}, ""},
		{"one twice", `{"a":1}`, []string{"a", "a"}, []lockspec.JSONValue{text("1"), text("1")}, ""},
		{"null and missing", `{"a":null}`, []string{"a", "b"}, []lockspec.JSONValue{null, none}, ""},
		{"null on the way", `{"a":null}`, []string{"a.b"}, []lockspec.JSONValue{none}, ""},
		{"a null body", `null`, []string{"a"}, []lockspec.JSONValue{none}, ""},
		{"no field at all", `{"a":1}`, nil, []lockspec.JSONValue{}, ""},
		{"no field at all of a malformed body", `{"a":1,}`, nil, nil, "malformed JSON at byte 8"},
		{"the first that is wrong", `{"b":[],"a":{}}`, []string{"a", "b"}, nil, "a: is neither text nor a number"},
		{"an object that is a value for another", `{"a":{"b":1}}`, []string{"a.b", "a"}, nil, "a: is neither text nor a number"},
		{"a value that is an object for another", `{"a":1}`, []string{"a", "a.b"}, nil, `a.b: "a" is not an object`},
		{"a duplicate of one", `{"a":1,"b":1,"B":2}`, []string{"a", "b"}, nil, `b: the key "B" occurs twice`},
		{"a duplicate on the way of one", `{"a":{"x":1},"A":{"y":2}}`, []string{"a.x", "a.y"}, nil, `a.x: the key "A" occurs twice`},
	} {
		t.Run(c.what, func(t *testing.T) {
			values, err := lockspec.JSONFields([]byte(c.body), c.fields...)
			if c.says != "" {
				if !errors.Is(err, lockspec.ErrInvalid) || !strings.Contains(err.Error(), c.says) || values != nil {
					t.Errorf("got %v, %v; want an error that says %q", values, err, c.says)
				}
				return
			}
			if err != nil || !slices.Equal(values, c.want) {
				t.Errorf("got %v, %v; want %v", values, err, c.want)
			}
		})
	}
}

func TestJSONFieldQuotesLittleOfAHostileBody(t *testing.T) {
	key := strings.Repeat("k", 100_000)
	_, _, err := lockspec.JSONField([]byte(`{"`+key+`":1,"`+key+`":2}`), "name")
	if err == nil || len(err.Error()) > 200 {
		t.Errorf("got an error of %d bytes", len(err.Error()))
	}
}
