package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Bytes is a size in bytes, written as a number with K, M, G or T (powers of 1024) or without.
type Bytes int64

// UnmarshalYAML reads "20G".
func (b *Bytes) UnmarshalYAML(node *yaml.Node) error {
	number, unit := strings.TrimSuffix(node.Value, "B"), 0
	if n := len(number); n > 0 {
		if unit = strings.IndexByte("KMGT", number[n-1]) + 1; unit > 0 {
			number = number[:n-1]
		}
	}
	size, err := strconv.ParseInt(number, 10, 64)
	if err != nil || size < 0 || size > math.MaxInt64>>(10*unit) {
		return fmt.Errorf("line %d: %q is no size: want a number, with K, M, G or T behind it", node.Line, node.Value)
	}
	*b = Bytes(size << (10 * unit))
	return nil
}
