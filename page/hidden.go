package page

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"log/slog"
)

// Hidden is a secret of one line: a password, a key, a token. It shows itself to nobody by accident: printed with any verb,
// logged with slog or encoded as JSON or text, it is "[hidden]". [Hidden.Reveal] gives the secret.
//
// As the type of a field it makes the field one to type a password into. Only pages may ask for it: a form of
// elicit.NewQuestion with such a field is a mistake. A required one is not empty.
type Hidden struct{ at *string } // fmt follows no pointer inside of a struct

const shown = "[hidden]"

// NewHidden hides a secret, for tests and for what is read from elsewhere.
func NewHidden(secret string) Hidden { return Hidden{&secret} }

// Reveal is the secret: hand it to what needs it, and keep it out of results, which the model reads.
func (h Hidden) Reveal() string {
	if h.at == nil {
		return ""
	}
	return *h.at
}

// IsZero reports whether there is no secret, or an empty one.
func (h Hidden) IsZero() bool { return h.Reveal() == "" }

// Equal reports whether the secrets are the same. It takes as long whatever they are.
func (h Hidden) Equal(other Hidden) bool {
	a, b := sha256.Sum256([]byte(h.Reveal())), sha256.Sum256([]byte(other.Reveal()))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// String is "[hidden]".
func (h Hidden) String() string { return shown }

// GoString is "[hidden]".
func (h Hidden) GoString() string { return shown }

// Format writes "[hidden]", whatever the verb.
func (h Hidden) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(shown)) }

// LogValue is "[hidden]".
func (h Hidden) LogValue() slog.Value { return slog.StringValue(shown) }

// MarshalJSON is "[hidden]".
func (h Hidden) MarshalJSON() ([]byte, error) { return []byte(`"` + shown + `"`), nil }

// MarshalText is "[hidden]".
func (h Hidden) MarshalText() ([]byte, error) { return []byte(shown), nil }

// UnmarshalText takes a secret.
func (h *Hidden) UnmarshalText(secret []byte) error {
	s := string(secret)
	h.at = &s
	return nil
}

// ElicitHidden tells package form what to make of the type.
func (h Hidden) ElicitHidden() (lines bool) { return false }

// HiddenText is a [Hidden] of several lines: a private key, a certificate.
type HiddenText struct{ Hidden }

// NewHiddenText hides a secret, for tests and for what is read from elsewhere.
func NewHiddenText(secret string) HiddenText { return HiddenText{NewHidden(secret)} }

// ElicitHidden tells package form what to make of the type.
func (h HiddenText) ElicitHidden() (lines bool) { return true }
