package requestcopy

import (
	"net/http"
	"reflect"
	"testing"
)

// Whatever a handler does to its request, net/http finds in its own; a new field of Go's is not
// forgotten.
func TestEveryFieldOfARequestIsAdopted(t *testing.T) {
	fields := reflect.TypeFor[http.Request]()
	for i := range fields.NumField() {
		field := fields.Field(i)
		if !field.IsExported() || field.Name == "Cancel" { // deprecated, and of clients
			continue
		}
		inner, outer := new(http.Request), new(http.Request)
		change(t, reflect.ValueOf(inner).Elem().Field(i))
		Adopt(outer, inner)
		if reflect.ValueOf(outer).Elem().Field(i).IsZero() {
			t.Errorf("%s is not adopted", field.Name)
		}
	}
}

// change gives a field some value that is not its zero value.
func change(t *testing.T, field reflect.Value) {
	t.Helper()
	switch field.Kind() {
	case reflect.String:
		field.SetString("x")
	case reflect.Int, reflect.Int64:
		field.SetInt(1)
	case reflect.Bool:
		field.SetBool(true)
	case reflect.Pointer:
		field.Set(reflect.New(field.Type().Elem()))
	case reflect.Map:
		field.Set(reflect.MakeMap(field.Type()))
	case reflect.Slice:
		field.Set(reflect.MakeSlice(field.Type(), 1, 1))
	case reflect.Func:
		field.Set(reflect.MakeFunc(field.Type(), nil))
	case reflect.Interface:
		field.Set(reflect.ValueOf(http.NoBody))
	default:
		t.Fatalf("no value for a %s", field.Type())
	}
}
