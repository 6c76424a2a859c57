package treeschema

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// leadingNumber matches a version number such as 8.0.36 at the beginning of a text.
var leadingNumber = regexp.MustCompile(`\d+(?:\.\d+)*`)

// tooOld compares the number in a server's version with the least that the plugin is made for; ok
// where that is reached.
func tooOld(product, version string, least []int) (f Finding, ok bool) {
	var have []int
	// MariaDB may put a 5.5.5- before its number, for the sake of old replicas.
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
		Why: "the statements of the plugin are neither made for it nor tested on it", Advice: fmt.Sprintf("use %s %s or later", product, wanted),
	}, false
}
