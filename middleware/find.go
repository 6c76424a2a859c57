package middleware

import (
	"fmt"

	"github.com/pathlock-go/pathlock/lockspec"
)

// get is the first function that [lockspec.Spec.Bind] wants.
func (v *values) get(src lockspec.Source) (value string, ok bool, err error) {
	if v.next == len(v.known) {
		var k known
		k.value, k.ok, k.err = v.find(src)
		v.known = append(v.known, k)
	}
	k := v.known[v.next]
	v.next++
	return k.value, k.ok, k.err
}

// find looks for the value of a source.
func (v *values) find(src lockspec.Source) (value string, ok bool, err error) {
	switch src.From() {
	case lockspec.FromParam:
		value, ok = v.c.Params.Get(src.Name())
		return value, ok, nil
	case lockspec.FromQuery:
		value, ok = v.c.GetQuery(src.Name())
		return value, ok, nil
	case lockspec.FromHeader:
		values := v.c.Request.Header.Values(src.Name())
		if len(values) == 0 {
			return "", false, nil
		}
		return values[0], true, nil
	case lockspec.FromFunc:
		return src.Extract(withGinContext(v.c), v.c.Param)
	case lockspec.FromJSON:
		return v.jsonField(src.Name())
	case lockspec.FromForm:
		return v.formField(src.Name())
	default:
		return "", false, fmt.Errorf("middleware: there is no way to get a %s", src)
	}
}
