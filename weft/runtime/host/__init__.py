"""The host function of a scheduled module, and the plan made from it."""
