"""Coming in by e-mail: invitations, and a new password for who forgot theirs."""
