package chromium

import (
	"reflect"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// Do does a line of a script: it calls a method of a window by its name, as in "click .back". A
// file of JavaScript stands for its text.
func Do(ts *testscript.TestScript, window any, line []string) {
	method := reflect.ValueOf(window).MethodByName(strings.ToUpper(line[0][:1]) + line[0][1:])
	if reflect.ValueOf(window).IsNil() || !method.IsValid() {
		ts.Fatalf("the window is not open, or there is no method %s", line[0])
	}
	var args []reflect.Value
	for _, arg := range line[1:] {
		if strings.HasSuffix(arg, ".js") {
			arg = ts.ReadFile(arg)
		}
		args = append(args, reflect.ValueOf(arg))
	}
	if takes := method.Type().NumIn(); len(args) != takes && !method.Type().IsVariadic() {
		ts.Fatalf("%s takes %d arguments", line[0], takes)
	}
	method.Call(args)
}
