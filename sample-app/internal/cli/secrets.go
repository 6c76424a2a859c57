package cli

import (
	"os"
	"strconv"
	"strings"
)

// withoutSecrets takes out of a message about the command line what it quotes of it, where that may
// have a password in it: a URL in the place of another flag's value, or one that was meant to be a
// flag's.
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

// hidden stands for what is not shown.
const hidden = "(not shown)"
