package otelobserver

import (
	"go.opentelemetry.io/otel/attribute"

	"github.com/pathlock-go/pathlock"
)

// The attributes of spans.
const (
	operationKey = attribute.Key("pathlock.operation")
	outcomeKey   = attribute.Key("pathlock.outcome")
	attemptKey   = attribute.Key("pathlock.attempt")
	routeKey     = attribute.Key("pathlock.route")
	namespaceKey = attribute.Key("pathlock.namespace")
	gateKey      = attribute.Key("pathlock.gate")
	nodesKey     = attribute.Key("pathlock.nodes")
	fenceKey     = attribute.Key("pathlock.fence")
	treeKey      = attribute.Key("pathlock.tree")
	claimsKey    = attribute.Key("pathlock.claims")
	blockerKey   = attribute.Key("pathlock.blocker.operation")
	instanceKey  = attribute.Key("pathlock.blocker.instance")
	waitingKey   = attribute.Key("pathlock.blocker.waiting")
)

// maxClaims is how many claims a span names.
const maxClaims = 8

// attributesOf describes a request to the reader of its span.
func (o *observer) attributesOf(e pathlock.Event) []attribute.KeyValue {
	all := []attribute.KeyValue{
		namespaceKey.String(e.Tree.Namespace()), gateKey.Bool(e.Gate), nodesKey.Int(len(e.Claims)),
	}
	if e.Origin.Operation != "" {
		all = append(all, operationKey.String(e.Origin.Operation))
	}
	if e.Origin.Route != "" {
		all = append(all, routeKey.String(e.Origin.Route))
	}
	if o.paths {
		var claims []string
		for _, c := range e.Claims[:min(len(e.Claims), maxClaims)] {
			claims = append(claims, c.String())
		}
		all = append(all, treeKey.String(e.Tree.String()), claimsKey.StringSlice(claims))
	}
	return all
}
