package anystore

// zkRefusals are what a ZooKeeper server answers that does not serve.
var zkRefusals = []refusal{
	{"client authentication failed", "refuses the user or the password"},
	{"not authenticated", "does not let the user do what locks need"},
	{"invalid ACL", "does not let the user do what locks need"},
	{"unknown error: -125", "has a quota that is exceeded"},
}

// zkTrouble says what a ZooKeeper server's error means. Others it does not know.
func zkTrouble(err error) (means string, ok bool) {
	means = meaning(err.Error(), zkRefusals)
	return means, means != ""
}
