// Package bucket keeps numbered files in a bucket of an object store, or in a folder. A file
// is written once, and only by who knows the one before it, so that of several who write
// the next one a single one succeeds.
package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"supervise/fleet/filelock"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/fileblob"  // file://
	_ "gocloud.dev/blob/gcsblob"   // gs://
	_ "gocloud.dev/blob/s3blob"    // s3://
	"gocloud.dev/gcerrors"
)

// ErrMoved is wrapped by the error for a file that another worker has written.
var ErrMoved = errors.New("another worker has written it")

// Bucket is an open one.
type Bucket struct {
	blobs *blob.Bucket
	dir   string // where it is a folder
}

// Open opens a bucket: file:///folder, s3://name, gs://name or azblob://name, with the
// parameters and the credentials of gocloud.dev/blob.
func Open(ctx context.Context, address string) (*Bucket, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("open the bucket: %w", err)
	}
	b := &Bucket{}
	if u.Scheme == "file" {
		b.dir = u.Path
		if err := os.MkdirAll(b.dir, 0o700); err != nil {
			return nil, fmt.Errorf("open the bucket: %w", err)
		}
		q := u.Query()
		q.Set("metadata", "skip") // no second file for each
		q.Set("no_tmp_dir", "1")  // which may be on another file system
		u.RawQuery = q.Encode()
		address = u.String()
	}
	if b.blobs, err = blob.OpenBucket(ctx, address); err != nil {
		return nil, fmt.Errorf("open the bucket: %w", err)
	}
	return b, nil
}

// Close lets go of it.
func (b *Bucket) Close() error { return b.blobs.Close() }

// Last returns the number of the last file of a name, 0 where there is none.
func (b *Bucket) Last(ctx context.Context, name string) (last int, err error) {
	keys, err := b.keys(ctx, name)
	for _, k := range keys {
		digits := strings.TrimPrefix(k, name+"/")
		if n, err := strconv.Atoi(digits); err == nil && len(digits) == width { // else what a dead process left
			last = max(last, n)
		}
	}
	return last, err
}

// Head returns the first bytes of a file, at most so many.
func (b *Bucket) Head(ctx context.Context, name string, number, most int) ([]byte, error) {
	r, err := b.blobs.NewRangeReader(ctx, key(name, number), 0, int64(most), nil)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", key(name, number), err)
	}
	defer r.Close()
	return io.ReadAll(r)
}

// Get copies a file to a file of this machine.
func (b *Bucket) Get(ctx context.Context, name string, number int, to string) error {
	f, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(b.blobs.Download(ctx, key(name, number), f, nil), f.Close()); err != nil {
		return fmt.Errorf("read %s: %w", key(name, number), err)
	}
	return nil
}

// Put writes the file of that number. The error wraps [ErrMoved] where there is one.
func (b *Bucket) Put(ctx context.Context, name string, number int, from string) error {
	leave, err := b.alone(ctx)
	if err != nil {
		return err
	}
	defer leave()
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	err = b.blobs.Upload(ctx, key(name, number), f, &blob.WriterOptions{ContentType: "application/octet-stream", IfNotExist: true})
	if gcerrors.Code(err) == gcerrors.FailedPrecondition {
		err = ErrMoved
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", key(name, number), err)
	}
	return nil
}

// Remove removes all files of a name.
func (b *Bucket) Remove(ctx context.Context, name string) error {
	keys, err := b.keys(ctx, name)
	for _, k := range keys {
		if err := b.blobs.Delete(ctx, k); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
			return fmt.Errorf("remove %s: %w", k, err)
		}
	}
	return err
}

func (b *Bucket) keys(ctx context.Context, name string) (out []string, err error) {
	for list := b.blobs.List(&blob.ListOptions{Prefix: name + "/"}); ; {
		o, err := list.Next(ctx)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, fmt.Errorf("list %s in the bucket: %w", name, err)
		}
		out = append(out, o.Key)
	}
}

// alone waits until no other process writes to the folder: file systems have no conditional
// writes.
func (b *Bucket) alone(ctx context.Context) (leave func(), err error) {
	if b.dir == "" {
		return func() {}, nil
	}
	return filelock.Lock(ctx, filepath.Join(b.dir, ".lock"))
}

// width is how many digits a number has.
const width = 8

func key(name string, number int) string { return fmt.Sprintf("%s/%0*d", name, width, number) }
