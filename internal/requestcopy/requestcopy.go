// Package requestcopy gives a request back to middleware that has had a copy of it served, with
// another context.
package requestcopy

import "net/http"

// Adopt copies to outer the changes made to its copy inner. For example, net/http removes the files
// of the form that its own request has.
func Adopt(outer, inner *http.Request) {
	if inner == outer {
		return
	}
	outer.Method, outer.URL, outer.Proto, outer.ProtoMajor, outer.ProtoMinor = inner.Method, inner.URL, inner.Proto, inner.ProtoMajor, inner.ProtoMinor
	outer.Header, outer.Trailer, outer.TransferEncoding = inner.Header, inner.Trailer, inner.TransferEncoding
	outer.Body, outer.GetBody, outer.ContentLength = inner.Body, inner.GetBody, inner.ContentLength
	outer.Form, outer.PostForm, outer.MultipartForm = inner.Form, inner.PostForm, inner.MultipartForm
	outer.Close, outer.Host, outer.RemoteAddr, outer.RequestURI = inner.Close, inner.Host, inner.RemoteAddr, inner.RequestURI
	outer.TLS, outer.Response, outer.Pattern = inner.TLS, inner.Response, inner.Pattern
}
