package release

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// The tests commit as an author of their own. A git hook that runs the tests must not redirect
// their git commands to its own repository.
func TestMain(m *testing.M) {
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"} {
		if err := os.Unsetenv(name); err != nil {
			panic(err)
		}
	}
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1",
		// The checkout may belong to another user, as in a container.
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
		"GIT_AUTHOR_NAME": "test", "GIT_AUTHOR_EMAIL": "test", "GIT_COMMITTER_NAME": "test", "GIT_COMMITTER_EMAIL": "test",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}
