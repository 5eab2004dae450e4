"""Where the temporaries of a kernel live, who fills them and who writes them back."""
