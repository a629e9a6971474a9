// Package scan puts together the facts about one file.
package scan
