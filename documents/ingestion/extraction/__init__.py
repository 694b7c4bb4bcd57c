"""Readers of file formats. They run in a process of their own (documents.ingestion.sandbox).

Nothing here may import Django, models or settings: the process that reads files has none of them.
"""
