"""Files of arrays and bundles, read with suspicion and written whole or not at all."""
