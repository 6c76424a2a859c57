package cli

import (
	"os"
	"strconv"
	"strings"
)

// withoutSecrets removes from a message every argument, and every setting of the environment, that
// may have a password in it. The message may quote any of them, such as a URL given as the value of
// the wrong flag.
func withoutSecrets(message string, args []string) string {
	for _, variable := range os.Environ() {
		if strings.HasPrefix(variable, "PATHLOCK_") {
			args = append(args[:len(args):len(args)], variable)
		}
	}
	for _, arg := range args {
		_, value, assigned := strings.Cut(arg, "=")
		if !assigned {
			value = arg
		}
		for _, secret := range []string{arg, value} {
			if !strings.Contains(secret, "://") && !strings.Contains(secret, "@") {
				continue
			}
			quoted := strconv.Quote(secret)
			message = strings.ReplaceAll(message, secret, hidden)
			message = strings.ReplaceAll(message, quoted[1:len(quoted)-1], hidden)
		}
	}
	return message
}

// hidden stands for a removed text.
const hidden = "(not shown)"
