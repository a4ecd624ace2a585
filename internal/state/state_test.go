package state

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

func secret(b byte) []byte { return bytes.Repeat([]byte{b}, MinSecret) }

func ring(t *testing.T, secrets ...[]byte) *Ring {
	t.Helper()
	r, err := NewRing(secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRingRefusesBadSecrets(t *testing.T) {
	for name, c := range map[string]struct {
		secrets [][]byte
		want    string
	}{
		"none":  {nil, "no secret"},
		"short": {[][]byte{secret(1), make([]byte, 31)}, "secret 2 of 2 has 31 bytes"},
		"twice": {[][]byte{secret(1), secret(2), secret(1)}, "secrets 1 and 3 of 3 are the same"},
	} {
		if _, err := NewRing(c.secrets...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestRingCopiesSecrets(t *testing.T) {
	s := secret(1)
	r := ring(t, s)
	token, _ := r.Seal(StatePurpose, []byte("x"))
	clear(s)
	if _, err := ring(t, secret(1)).Open(StatePurpose, token, 1000); err != nil {
		t.Fatal("sealed under a secret that the caller overwrote:", err)
	}
	if got, err := r.Open(StatePurpose, token, 1000); err != nil || string(got) != "x" {
		t.Fatal(got, err)
	}
}

func TestRotation(t *testing.T) {
	old := ring(t, secret(1))
	token, _ := old.Seal(StatePurpose, []byte("x"))
	both := ring(t, secret(2), secret(1))
	if _, err := both.Open(StatePurpose, token, 1000); err != nil {
		t.Error("an older secret of the ring must open:", err)
	}
	fresh, _ := both.Seal(StatePurpose, []byte("x"))
	if _, err := old.Open(StatePurpose, fresh, 1000); !errors.Is(err, ErrUnknownKey) {
		t.Error("the first secret must seal; got", err)
	}
	if _, err := ring(t, secret(2)).Open(StatePurpose, token, 1000); !errors.Is(err, ErrUnknownKey) {
		t.Error("a retired secret must not open; got", err)
	}
}

func TestPurposesAreApart(t *testing.T) {
	r := ring(t, secret(1))
	token, _ := r.Seal("ticket", []byte("x"))
	if _, err := r.Open(StatePurpose, token, 1000); !errors.Is(err, ErrForged) {
		t.Fatal(err)
	}
}

func TestEveryChangedCharacterIsSeen(t *testing.T) {
	r := ring(t, secret(1))
	token, _ := r.Seal(StatePurpose, []byte("the plaintext"))
	if len(token) != SealedLen(len("the plaintext")) {
		t.Error("SealedLen is wrong")
	}
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for i := range token {
		for _, c := range []byte{alphabet[(strings.IndexByte(alphabet, token[i])+1)%64], '\n', '=', '+', 0} {
			forged := token[:i] + string(c) + token[i+1:]
			if _, err := r.Open(StatePurpose, forged, 1000); err == nil {
				t.Errorf("opened with character %d changed to %q", i, c)
			}
		}
		if _, err := r.Open(StatePurpose, token[:i], 1000); err == nil {
			t.Errorf("opened when cut to %d characters", i)
		}
		if _, err := r.Open(StatePurpose, token[:i]+"\n"+token[i:], 1000); err == nil {
			t.Errorf("opened with a newline at %d", i)
		}
	}
	if _, err := r.Open(StatePurpose, token, len(token)-1); !errors.Is(err, ErrTooLong) {
		t.Error("the length is checked first; got", err)
	}
}

func TestTokensDiffer(t *testing.T) {
	r := ring(t, secret(1))
	a, _ := r.Seal(StatePurpose, []byte("x"))
	b, _ := r.Seal(StatePurpose, []byte("x"))
	if a == b {
		t.Error("two tokens of the same bytes are the same")
	}
}

func sample() *State {
	at := time.Unix(1785542400, 0)
	return &State{
		Binding: Binding{Audience: DigestOf("a"), Principal: DigestOf("p"), Feature: DigestOf("f"), Arguments: DigestOf("g")},
		CallID:  [16]byte{1, 2, 3}, Born: at, Issued: at.Add(time.Minute), Expires: at.Add(2 * time.Minute), Round: 3, Foreign: "own",
		Asked:    map[string]Digest{"b": DigestOf("b"), "a": DigestOf("a")},
		Answers:  map[string]Answer{"x": {DigestOf("x"), Accept, []byte(`{"n":1}`)}, "y": {DigestOf("y"), Decline, nil}},
		Steps:    map[string][]byte{"quote": []byte("42")},
		Attempts: map[string]int{"a": 2},
	}
}

func TestStateRoundTrip(t *testing.T) {
	for _, s := range []*State{sample(), {Born: time.Unix(0, 0), Issued: time.Unix(0, 0), Expires: time.Unix(0, 0)}} {
		b := s.Append(nil)
		got, err := Parse(b)
		if err != nil || !reflect.DeepEqual(got, s) {
			t.Errorf("got %+v, %v, want %+v", got, err, s)
		}
		if !bytes.Equal(got.Append(nil), b) {
			t.Error("the same state has two encodings")
		}
	}
}

func TestBindingMismatchNamesTheFirst(t *testing.T) {
	b := sample().Binding
	if m := b.Mismatch(b); m != "" {
		t.Error(m)
	}
	o := b
	o.Arguments, o.Extra = DigestOf("other"), DigestOf("other")
	if m := b.Mismatch(o); m != "arguments" {
		t.Error(m)
	}
}

func TestDigestPartsDoNotRunTogether(t *testing.T) {
	if DigestOf("ab", "c") == DigestOf("a", "bc") || DigestOf("a") == DigestOf("a", "") {
		t.Error("two lists of parts have one digest")
	}
}

func TestDigestOfBytes(t *testing.T) {
	for _, s := range []string{"", "a", strings.Repeat("long", 1000)} {
		if DigestOfBytes([]byte(s)) != DigestOf(s) {
			t.Errorf("the digest of %d bytes is another than that of the string", len(s))
		}
	}
}

// The key of a token is what crypto/hkdf makes of the secret and the salt.
func TestKeysAreHKDF(t *testing.T) {
	salt := bytes.Repeat([]byte{7}, saltSize)
	for _, secret := range [][]byte{secret(1), bytes.Repeat([]byte{2}, 100)} {
		k := newKey(secret)
		for range 2 { // the second time from what the first left
			got := k.derive("ticket", salt)
			prk, err := hkdf.Extract(sha256.New, secret, nil)
			if err != nil {
				t.Fatal(err)
			}
			want, err := hkdf.Expand(sha256.New, prk, "elicit ticket\x00"+string(salt), keySize+nonceSize)
			if err != nil || !bytes.Equal(got[:], want) {
				t.Errorf("the key is %x, not %x (%v)", got, want, err)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sample().Append(nil))
	f.Add([]byte{stateVersion})
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Parse(b)
		if err != nil {
			return
		}
		again, err := Parse(s.Append(nil))
		if err != nil || !reflect.DeepEqual(s, again) {
			t.Fatalf("%v: %+v became %+v", err, s, again)
		}
	})
}

func FuzzOpen(f *testing.F) {
	r, _ := NewRing(secret(1))
	token, _ := r.Seal(StatePurpose, []byte("x")) // another in each process that fuzzes
	f.Add(token)
	f.Add("")
	f.Add(base64.RawURLEncoding.EncodeToString(make([]byte, header+tagSize)))
	f.Fuzz(func(t *testing.T, s string) {
		plain, err := r.Open(StatePurpose, s, 4096)
		if err == nil && string(plain) != "x" {
			t.Fatalf("opened %q, which holds %q", s, plain)
		}
	})
}
