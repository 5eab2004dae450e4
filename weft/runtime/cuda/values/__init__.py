"""C++ expressions, and facts about them: ranges, types, views of memory."""
