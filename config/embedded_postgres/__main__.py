"""python -m config.embedded_postgres {start,stop,status,erase} [--data-dir DIR] [--quiet]

Exit code: 0; 1 on failure; 3 if `status` finds no running server.
"""

import argparse
import os
import sys
from pathlib import Path

from config.embedded_postgres import EmbeddedPostgresError, ensure_running, erase, status, stop


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m config.embedded_postgres")
    parser.add_argument("action", choices=["start", "stop", "status", "erase"])
    parser.add_argument(
        "--data-dir", type=Path, default=Path(os.environ.get("PRECEPT_DATA_DIR", ".data"))
    )
    parser.add_argument("--quiet", action="store_true")
    options = parser.parse_args()
    data_dir = options.data_dir
    code = 0
    try:
        match options.action:
            case "start":
                message = f"Running: {ensure_running(data_dir=data_dir)}"
            case "status":
                server = status(data_dir=data_dir)
                code = 0 if server else 3
                message = f"Running: {server}" if server else "Not running."
            case "stop":
                message = "Stopped." if stop(data_dir=data_dir) else "Not running."
            case "erase":
                message = "Deleted." if erase(data_dir=data_dir) else "There is no database."
    except EmbeddedPostgresError as error:
        print(error, file=sys.stderr)
        return 1
    if not options.quiet:
        print(message)
    return code


if __name__ == "__main__":
    sys.exit(main())
