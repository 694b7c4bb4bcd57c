#!/usr/bin/env python3
"""Precept's command line. Without DATABASE_URL it starts the embedded PostgreSQL on demand."""

import os
import sys

# Commands that change the schema run as the owning role; everything else as the application role,
# which owns nothing and cannot bypass row-level security.
OWNER_COMMANDS = {"migrate", "createcachetable", "sqlmigrate"}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if len(sys.argv) > 1 and sys.argv[1] in OWNER_COMMANDS:
        os.environ.setdefault("PRECEPT_DATABASE_ROLE", "owner")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
