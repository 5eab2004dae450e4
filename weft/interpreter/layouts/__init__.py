"""Where an element is: layouts as digits."""
