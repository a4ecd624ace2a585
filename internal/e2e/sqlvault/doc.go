// Package sqlvault tests page/sqlvault on real databases, whose drivers nothing else needs.
package sqlvault
