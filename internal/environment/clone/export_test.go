package clone

// Enter makes the driver do as if it had no right to make network namespaces.
func (c *Config) Enter() { c.enter = true }
