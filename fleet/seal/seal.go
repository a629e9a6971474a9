// Package seal encrypts what goes into the histories of a fleet, so that the server that
// keeps them cannot read it. Only holders of the key can.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
)

// KeyVariable names the key: 64 hexadecimal digits, or the path of a file that holds them.
const KeyVariable = "SUPERVISE_FLEET_KEY"

const (
	encoding = "binary/supervise-fleet"
	size     = 32 // bytes of a key: AES-256
)

// Converters are what a client needs to read and write what is sealed. Without a key
// nothing is.
func Converters(getenv func(string) string) (converter.DataConverter, converter.FailureConverter, error) {
	data := converter.GetDefaultDataConverter()
	if text := getenv(KeyVariable); text != "" {
		key, err := readKey(text)
		if err != nil {
			return nil, nil, err
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, nil, err
		}
		box, err := cipher.NewGCM(block)
		if err != nil {
			return nil, nil, err
		}
		data = converter.NewCodecDataConverter(data, codec{box})
		return data, temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{DataConverter: data, EncodeCommonAttributes: true}), nil
	}
	return data, temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{DataConverter: data}), nil
}

func readKey(text string) ([]byte, error) {
	if !isHex(text) {
		read, err := os.ReadFile(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: give 64 hexadecimal digits, or a file that holds them (openssl rand -hex 32 makes them)", KeyVariable, err)
		}
		text = strings.TrimSpace(string(read))
	}
	if !isHex(text) {
		return nil, fmt.Errorf("%s: the key has not 64 hexadecimal digits: openssl rand -hex 32 makes one", KeyVariable)
	}
	return hex.DecodeString(text)
}

func isHex(text string) bool {
	b, err := hex.DecodeString(text)
	return err == nil && len(b) == size
}

// codec seals payloads one by one.
type codec struct{ box cipher.AEAD }

var errSealed = errors.New("cannot be opened: is " + KeyVariable + " that of the fleet?")

// Encode seals.
func (c codec) Encode(list []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(list))
	for i, p := range list {
		text, err := p.Marshal()
		if err != nil {
			return nil, err
		}
		nonce := make([]byte, c.box.NonceSize())
		if _, err := rand.Read(nonce); err != nil {
			return nil, err
		}
		out[i] = &commonpb.Payload{Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encoding)}, Data: c.box.Seal(nonce, nonce, text, nil)}
	}
	return out, nil
}

// Decode opens what is sealed, and leaves what is not.
func (c codec) Decode(list []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(list))
	for i, p := range list {
		if string(p.Metadata[converter.MetadataEncoding]) != encoding {
			out[i] = p
			continue
		}
		n := c.box.NonceSize()
		if len(p.Data) < n {
			return nil, errSealed
		}
		text, err := c.box.Open(nil, p.Data[:n], p.Data[n:], nil)
		if err != nil {
			return nil, errSealed
		}
		out[i] = &commonpb.Payload{}
		if err := out[i].Unmarshal(text); err != nil {
			return nil, err
		}
	}
	return out, nil
}
