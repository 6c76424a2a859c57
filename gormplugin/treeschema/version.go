package treeschema

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// leadingNumber matches the first version number in a text, such as 8.0.36.
var leadingNumber = regexp.MustCompile(`\d+(?:\.\d+)*`)

// tooOld compares a server's version with the oldest one that the plugin supports. ok is set if the
// server is new enough.
func tooOld(product, version string, least []int) (f Finding, ok bool) {
	var have []int
	// MariaDB may prefix its number with 5.5.5-, for the sake of old replicas.
	for digits := range strings.SplitSeq(leadingNumber.FindString(strings.TrimPrefix(version, "5.5.5-")), ".") {
		n, err := strconv.Atoi(digits)
		if err != nil {
			break
		}
		have = append(have, n)
	}
	if slices.Compare(have, least) >= 0 {
		return Finding{}, true
	}
	wanted := strings.Trim(strings.ReplaceAll(fmt.Sprint(least), " ", "."), "[]")
	return Finding{
		Severity: Unsafe, Check: Version, Missing: fmt.Sprintf("the server is %s %s", product, version),
		Why: "the plugin's statements are neither written for it nor tested on it", Advice: fmt.Sprintf("use %s %s or later", product, wanted),
	}, false
}
