package form

import (
	"reflect"
	"strings"

	"github.com/elicit-go/elicit/internal/formtype"
)

// What lint needs of types that are not there when it runs, but described.
func init() {
	formtype.For = func(t reflect.Type) []error {
		var b builder
		infer(t, &b)
		b.model()
		return b.errs
	}
	formtype.Build = func(t reflect.Type, fn func(reflect.Value) []any) []error {
		var b builder
		if !isForm(t, &b, "Build") {
			return b.errs
		}
		build(t, &b, func(root reflect.Value) (fields []Field) {
			for _, f := range fn(root) {
				fields = append(fields, f.(Field))
			}
			return fields
		})
		return b.errs
	}
	formtype.TagWithout = func(tag, key string) string {
		items, mistake := parseTag(tag)
		if mistake != "" {
			return tag
		}
		var kept []string
		for _, it := range items {
			switch {
			case it.key == key:
			case it.valued:
				kept = append(kept, it.key+"='"+strings.ReplaceAll(it.value, "'", "''")+"'")
			default:
				kept = append(kept, it.key)
			}
		}
		return strings.Join(kept, ",")
	}
}
