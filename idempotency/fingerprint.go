package idempotency

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/internal/readlimit"
	"github.com/pathlock-go/pathlock/middleware"
)

// errBodyGone says that there was a body, and that nobody can know it any more.
var errBodyGone = errors.New("idempotency: the body has been read")

// fingerprint tells requests apart that were sent under one key.
func (k *Keys) fingerprint(c *gin.Context) (string, error) {
	parts := []string{c.Request.Method, c.Request.URL.EscapedPath(), c.Request.URL.RawQuery}
	body, err := k.body(c)
	if err != nil {
		return "", err
	}
	return hash(append(parts, body...)...), nil
}

// body returns what stands for the body. It reads the body and puts it back. Where somebody has
// read it before, that is what they have made of it: the copy that gin keeps, or a form.
func (k *Keys) body(c *gin.Context) ([]string, error) {
	r := c.Request
	read, err := k.readBody(c)
	switch {
	case err != nil:
		return nil, err
	case len(read) > 0 || r.ContentLength == 0:
		return []string{string(read)}, nil
	case r.MultipartForm != nil:
		return parts(r.MultipartForm)
	case r.PostForm != nil:
		return []string{r.PostForm.Encode()}, nil
	}
	if kept, ok := c.Get(gin.BodyBytesKey); ok {
		if kept, ok := kept.([]byte); ok {
			return []string{string(kept)}, nil
		}
	}
	if r.ContentLength > 0 {
		return nil, errBodyGone
	}
	return []string{""}, nil
}

// readBody reads the body, if there is one, and puts it back.
func (k *Keys) readBody(c *gin.Context) ([]byte, error) {
	r := c.Request
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	lift := readlimit.Begin(c.Writer, r, k.config.BodyTimeout)
	read, err := io.ReadAll(http.MaxBytesReader(c.Writer, r.Body, k.config.MaxBody))
	if readlimit.Exceeded(err) {
		c.Header("Connection", "close")
		return nil, err
	}
	lift()
	r.Body = io.NopCloser(bytes.NewReader(read))
	return read, err
}

// parts lists the names and contents of a form's fields and files.
func parts(form *multipart.Form) (all []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(form.Value)) {
		all = append(append(all, "field", name, fmt.Sprint(len(form.Value[name]))), form.Value[name]...)
	}
	for _, name := range slices.Sorted(maps.Keys(form.File)) {
		for _, header := range form.File[name] {
			content, err := contentOf(header)
			if err != nil {
				return nil, err
			}
			all = append(all, "file", name, header.Filename, content)
		}
	}
	return all, nil
}

func contentOf(header *multipart.FileHeader) (content string, err error) {
	f, err := header.Open()
	if err != nil {
		return "", fmt.Errorf("idempotency: an uploaded file: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	read, err := io.ReadAll(f)
	if err != nil {
		return "", fmt.Errorf("idempotency: an uploaded file: %w", err)
	}
	return string(read), nil
}

// unreadable is the problem of a body that could not be read.
func unreadable(err error) *middleware.Problem {
	if readlimit.Exceeded(err) {
		return middleware.NewProblem(http.StatusRequestTimeout, "request-timeout", "the body took too long to arrive")
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return middleware.NewProblem(http.StatusRequestEntityTooLarge, "too-large", "the body is too large for a request with an "+Header)
	}
	return middleware.NewProblem(http.StatusBadRequest, "invalid-request", "the body ends before all of it has been sent")
}
