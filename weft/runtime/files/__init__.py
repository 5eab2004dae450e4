"""Files of arrays and bundles: checked when read, written atomically."""
