package redisstore

import (
	"strconv"

	"github.com/pathlock-go/pathlock"
)

// apartMember is what the deadlines have for a grant with a lease of its own: apart.of in
// scripts/lib/apart.lua. There is one for a grant exactly if the grant is apart.
func apartMember(owner pathlock.Owner, id pathlock.GrantID) string {
	return "g" + strconv.Itoa(len(owner)) + ":" + string(owner) + string(id)
}
