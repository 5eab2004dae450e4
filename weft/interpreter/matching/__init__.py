"""What `match` decides by: the kind of an op, its properties, and the ops that its operands come
from."""
