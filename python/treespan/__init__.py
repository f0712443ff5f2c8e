"""What both services share, the client, and the command line."""
