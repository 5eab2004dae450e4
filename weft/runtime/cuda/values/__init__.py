"""C++ expressions, and what is known of them: ranges, types, views of memory."""
