"""The algebra of reductions: combiners, identities, scans."""
