class EmbeddedPostgresError(Exception):
    """The embedded database cannot be used. The message is a sentence that says what to do."""
