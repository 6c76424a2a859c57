package otelobserver

import (
	"go.opentelemetry.io/otel/attribute"

	"github.com/pathlock-go/pathlock"
)

// The attributes of spans and metrics.
const (
	operationKey = attribute.Key("pathlock.operation")
	outcomeKey   = attribute.Key("pathlock.outcome")
	problemKey   = attribute.Key("pathlock.problem")
	stepKey      = attribute.Key("pathlock.step")
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

// operation is that of an event, as an attribute of metrics.
func (o *Observer) operation(e pathlock.Event) attribute.KeyValue {
	return operationKey.String(o.operations.Of(e.Origin.Operation))
}

// attributesOf describes a request to the reader of its span.
func (o *Observer) attributesOf(e pathlock.Event) []attribute.KeyValue {
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
