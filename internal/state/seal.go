// Package state seals what a call must remember between its rounds.
//
// A [Ring] seals bytes into a token that only a holder of one of its secrets can open or make; [State] is what the
// token of a call holds. Tokens of one purpose never open as another's.
package state

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"
	"sync"
)

// MinSecret is the least length of a secret, in bytes: the key length of AES-256.
const MinSecret = 32

// A Purpose separates tokens: what is sealed for one never opens for another.
type Purpose string

// What is sealed.
const (
	StatePurpose Purpose = "state" // a requestState
	TaskPurpose  Purpose = "task"  // a field of a task's row
	VaultPurpose Purpose = "vault" // an entry of a vault
)

// Why a token did not open. All of them look alike to a client; only a log tells them apart.
var (
	ErrTooLong    = errors.New("longer than allowed")
	ErrMalformed  = errors.New("not a token")
	ErrUnknownKey = errors.New("sealed under a secret that is not in the ring")
	ErrForged     = errors.New("changed or made by someone else")
)

// A token is base64url(version ‖ kid ‖ salt ‖ AES-256-GCM(plaintext)). The key and the nonce of the cipher are derived
// from the secret and the salt, so they are new for every token: random nonces under one key would begin to repeat at
// the rates a busy gateway has (NIST SP 800-38D, section 8.3).
//
// They are derived by HKDF-SHA256 (RFC 5869). Secrets are random, so the step that extracts a key from one needs no salt
// (section 3.1), and is done once; purpose and salt are the info of the step that expands that key for each token.
const (
	version   = 1
	kidSize   = 8
	saltSize  = 16
	keySize   = 32
	nonceSize = 12
	header    = 1 + kidSize + saltSize
	tagSize   = 16
)

// A Ring seals under its first secret and opens under all of them. It is safe for concurrent use.
type Ring struct{ keys []*key }

type key struct {
	kid  [kidSize]byte
	macs sync.Pool // of *mac
}

// A mac is HMAC-SHA256 under the extracted key, and room to derive a key with it.
type mac struct {
	hash.Hash
	info, out []byte
}

func newKey(secret []byte) *key {
	k := &key{}
	sum := sha256.Sum256(append([]byte("elicit kid\x00"), secret...))
	copy(k.kid[:], sum[:])
	prk, err := hkdf.Extract(sha256.New, secret, nil)
	if err != nil {
		panic(err) // only for hashes and keys that FIPS 140 does not know
	}
	k.macs.New = func() any { return &mac{Hash: hmac.New(sha256.New, prk)} }
	return k
}

// derive is HKDF-Expand of the key for one token.
func (k *key) derive(p Purpose, salt []byte) (out [keySize + nonceSize]byte) {
	m := k.macs.Get().(*mac)
	defer k.macs.Put(m)
	m.info = append(append(append(append(m.info[:0], "elicit "...), p...), 0), salt...)
	m.info = append(m.info, 0)
	m.out = m.out[:0]
	for len(m.out) < len(out) { // each block is of the one before it
		m.info[len(m.info)-1]++
		m.Reset()
		m.Write(m.out[max(0, len(m.out)-sha256.Size):])
		m.Write(m.info)
		m.out = m.Sum(m.out)
	}
	copy(out[:], m.out)
	clear(m.out)
	return out
}

// NewRing copies secrets into a ring. It fails if there is none, if one is shorter than [MinSecret], or if two are equal.
func NewRing(secrets ...[]byte) (*Ring, error) {
	if len(secrets) == 0 {
		return nil, errors.New("no secret given; make one with: elicit keygen")
	}
	r := &Ring{}
	for i, s := range secrets {
		if len(s) < MinSecret {
			return nil, fmt.Errorf("secret %d of %d has %d bytes; give at least %d random ones (make them with: elicit keygen)", i+1, len(secrets), len(s), MinSecret)
		}
		k := newKey(s)
		for j, other := range r.keys {
			if other.kid == k.kid {
				return nil, fmt.Errorf("secrets %d and %d of %d are the same; give each once, the newest first", j+1, i+1, len(secrets))
			}
		}
		r.keys = append(r.keys, k)
	}
	return r, nil
}

// RandomRing is a ring of one random secret, for one process.
func RandomRing() *Ring {
	s := make([]byte, MinSecret)
	rand.Read(s) // never fails (crypto/rand)
	r, err := NewRing(s)
	if err != nil {
		panic(err)
	}
	return r
}

func (k *key) cipher(p Purpose, salt []byte) (cipher.AEAD, []byte, error) {
	b := k.derive(p, salt)
	block, err := aes.NewCipher(b[:keySize])
	if err != nil {
		return nil, nil, err
	}
	aead, err := cipher.NewGCM(block)
	return aead, b[keySize:], err
}

func aad(p Purpose, head []byte) []byte {
	return append([]byte("elicit "+string(p)+"\x00"), head[:1+kidSize]...)
}

// Seal encrypts plaintext for purpose p.
func (r *Ring) Seal(p Purpose, plaintext []byte) (string, error) {
	raw, err := r.seal(p, nil, plaintext)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(raw), nil
}

// SealAt encrypts plaintext for purpose p and one place, such as a field of a row: it opens nowhere else.
func (r *Ring) SealAt(p Purpose, place Digest, plaintext []byte) ([]byte, error) {
	return r.seal(p, place[:], plaintext)
}

func (r *Ring) seal(p Purpose, place, plaintext []byte) ([]byte, error) {
	k := r.keys[0]
	raw := make([]byte, header, header+len(plaintext)+tagSize)
	raw[0] = version
	copy(raw[1:], k.kid[:])
	rand.Read(raw[1+kidSize : header])
	aead, nonce, err := k.cipher(p, raw[1+kidSize:header])
	if err != nil {
		return nil, fmt.Errorf("sealing: %w", err)
	}
	return aead.Seal(raw, nonce, plaintext, append(aad(p, raw), place...)), nil
}

// SealedLen is the length of the token of n bytes of plaintext.
func SealedLen(n int) int { return base64.RawURLEncoding.EncodedLen(header + n + tagSize) }

// Open verifies and decrypts a token of purpose p that is at most limit characters long.
func (r *Ring) Open(p Purpose, token string, limit int) ([]byte, error) {
	if len(token) > limit {
		return nil, ErrTooLong
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) < header+tagSize || raw[0] != version {
		return nil, ErrMalformed
	}
	// One token must have one spelling. A strict decoder takes no others, but skips newlines.
	if len(token) != base64.RawURLEncoding.EncodedLen(len(raw)) {
		return nil, ErrMalformed
	}
	return r.open(p, nil, raw)
}

// OpenAt verifies and decrypts what SealAt sealed for purpose p and the place. It leaves sealed as it is.
func (r *Ring) OpenAt(p Purpose, place Digest, sealed []byte) ([]byte, error) {
	if len(sealed) < header+tagSize || sealed[0] != version {
		return nil, ErrMalformed
	}
	return r.open(p, place[:], slices.Clone(sealed))
}

// open decrypts raw in place.
func (r *Ring) open(p Purpose, place, raw []byte) ([]byte, error) {
	for _, k := range r.keys {
		if string(k.kid[:]) != string(raw[1:1+kidSize]) { // the kid is public
			continue
		}
		aead, nonce, err := k.cipher(p, raw[1+kidSize:header])
		if err != nil {
			return nil, ErrForged
		}
		plain, err := aead.Open(raw[header:header], nonce, raw[header:], append(aad(p, raw), place...))
		if err != nil {
			return nil, ErrForged
		}
		return plain, nil
	}
	return nil, ErrUnknownKey
}

// KID names the secret that bytes of SealAt are sealed under: 16 hexadecimal digits, or "" if they were not sealed.
func KID(sealed []byte) string {
	if len(sealed) < header+tagSize {
		return ""
	}
	return hex.EncodeToString(sealed[1 : 1+kidSize])
}

// Index is where in the ring the secret is that a kid of [KID] names; 0 is the one that seals, and -1 is none.
func (r *Ring) Index(kid string) int {
	return slices.IndexFunc(r.keys, func(k *key) bool { return hex.EncodeToString(k.kid[:]) == kid })
}
