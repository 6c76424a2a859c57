package httpapi

import (
	"bytes"
	"strconv"
	"unicode/utf16"
)

// hasLoneSurrogate reports whether valid JSON has an escape such as \ud83d without its other half.
// That is no character, and encoding/json reads U+FFFD for it: another text than the one that was
// sent.
func hasLoneSurrogate(json []byte) bool {
	for {
		i := bytes.IndexByte(json, '\\')
		if i < 0 || i+1 == len(json) {
			return false
		}
		first, ok := escaped(json[i:])
		switch {
		case !ok:
			json = json[i+2:]
		case !utf16.IsSurrogate(first):
			json = json[i+6:]
		default:
			second, ok := escaped(json[i+6:])
			if !ok || utf16.DecodeRune(first, second) == '\uFFFD' {
				return true
			}
			json = json[i+12:]
		}
	}
}

// escaped returns the unit of UTF-16 that a text begins with as an escape.
func escaped(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(unit), err == nil
}
