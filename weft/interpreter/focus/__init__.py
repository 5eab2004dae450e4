"""Statements on a part of a large module: the part has the ops that the statement accesses; ops of
unknown effect replace all ops in between."""
