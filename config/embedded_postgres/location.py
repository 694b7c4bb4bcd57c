"""Where the cluster lies: in the data directory, or elsewhere if the server cannot get there."""

import hashlib
import json
import os
import secrets
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from config.embedded_postgres.account import SYSTEM_USER, Account, account_for
from config.embedded_postgres.binaries import WAY_OUT, copy_installation
from config.embedded_postgres.errors import EmbeddedPostgresError

SHARED_STATE = Path("/var/lib/precept")
POINTER = "postgres-location.json"


@dataclass(frozen=True, slots=True)
class Place:
    """One cluster's directory and everything beside the data."""

    root: Path

    @property
    def pgdata(self) -> Path:
        return self.root / "pgdata"

    @property
    def passwords(self) -> Path:
        return self.root / "passwords.json"

    @property
    def used_by(self) -> Path:
        """Names the data directory, where that lies elsewhere."""
        return self.root / "data_dir"

    @property
    def port(self) -> Path:
        return self.root / "port"

    @property
    def prepared(self) -> Path:
        return self.root / "prepared"

    @property
    def log(self) -> Path:
        return self.root / "log" / "postgresql.log"


def find_place(data_dir: Path) -> Place | None:
    """The place where this data directory's cluster was put earlier, or None.

    Raises EmbeddedPostgresError if it is another user's, closed to this one.
    """
    try:
        return _find_place(data_dir)
    except PermissionError as error:
        raise EmbeddedPostgresError(
            f"{error.filename} belongs to another user. Run Precept as that user, or set "
            f"PRECEPT_DATA_DIR to a directory of your own. {WAY_OUT}"
        ) from error


def _find_place(data_dir: Path) -> Place | None:
    pointer = data_dir / POINTER
    if pointer.exists():
        recorded = json.loads(pointer.read_text())
        moved_from = Path(recorded["data_dir"])
        # A moved checkout keeps its cluster; a copied one must not share its original's.
        if moved_from == data_dir or not moved_from.exists():
            root = Path(recorded["location"])
            return Place(root) if root.exists() else None
        return None
    beside = Place(data_dir / "postgres")
    return beside if beside.pgdata.exists() else None


def choose_place(data_dir: Path) -> tuple[Place, Account]:
    """Finds or makes a directory that both this process and the server's user can reach.

    Never changes the mode of a directory it did not make.
    """
    known = find_place(data_dir)
    if known is not None:
        if (data_dir / POINTER).exists():
            _point(data_dir, known.root)
        account = account_for(known.pgdata)
        if known.pgdata.exists():
            _hand_over(known, account)
        return known, account
    beside = Place(data_dir / "postgres")
    account = account_for(beside.pgdata)
    if _furnish(beside, account):
        return beside, account
    nonce = secrets.token_hex(8)
    digest = hashlib.sha256(f"{data_dir}\n{nonce}".encode()).hexdigest()[:16]
    for root in (SHARED_STATE / digest, Path(tempfile.gettempdir()) / f"precept-{digest}"):
        if _furnish(Place(root), account):
            _point(data_dir, root)
            return Place(root), account
    raise EmbeddedPostgresError(
        f"The system user {SYSTEM_USER}, which runs the database for root, can reach neither "
        f"{data_dir} nor {SHARED_STATE} nor {tempfile.gettempdir()}. Set PRECEPT_DATA_DIR to a "
        f"directory below one that everybody may traverse. {WAY_OUT}"
    )


def _hand_over(place: Place, account: Account) -> None:
    """Gives root's copy of a cluster (cp -r) to the account; raises if that cannot reach it."""
    if account.uid is not None and place.pgdata.stat().st_uid == 0:
        os.chown(place.root, 0, account.gid)
        for top in (place.pgdata, place.log.parent):
            for path in (top, *top.rglob("*")):
                os.chown(path, account.uid, account.gid, follow_symlinks=False)
    if not account.can("-w", place.pgdata):
        raise EmbeddedPostgresError(
            f"The user that runs the database (user id {account.uid}) cannot reach {place.pgdata}: "
            "a directory above it is closed to it. Move the data directory below one that "
            f"everybody may traverse and name it in PRECEPT_DATA_DIR. {WAY_OUT}"
        )


def _point(data_dir: Path, root: Path) -> None:
    recorded = {"data_dir": str(data_dir), "location": str(root)}
    write_private(Place(root).used_by, str(data_dir))
    write_private(data_dir / POINTER, json.dumps(recorded))


def abandoned_places(data_dir: Path, *, current: Place) -> list[Place]:
    """Clusters made elsewhere for a data directory of this name that was deleted since."""
    places = (Place(path.parent) for path in SHARED_STATE.glob(f"*/{current.used_by.name}"))
    return [
        place
        for place in places
        if place.root != current.root and place.used_by.read_text() == str(data_dir)
    ]


def _furnish(place: Place, account: Account) -> bool:
    """Makes the directory; False, with nothing left behind, if the account cannot work in it."""
    made = not place.root.exists()
    try:
        if place.root.parent == SHARED_STATE and not SHARED_STATE.exists():
            SHARED_STATE.mkdir(parents=True)
            SHARED_STATE.chmod(0o755)
        place.root.mkdir(exist_ok=True)
        if account.uid is not None:
            # Root keeps the directory, so that the server cannot swap root's files in it.
            os.chown(place.root, 0, account.gid)
        place.root.chmod(0o750 if account.uid is not None else 0o700)
        place.log.parent.mkdir(exist_ok=True)
        account.own(place.log.parent)
        place.log.parent.chmod(0o700)
        if account.can("-w", place.log.parent):
            return True
    except OSError:
        if account.uid is None:
            raise
    if made:
        shutil.rmtree(place.root, ignore_errors=True)
    return False


def choose_programs(installation: Path, *, place: Place, account: Account) -> Path:
    """The directory of the programs that this account can execute; copies them if it must."""
    if account.can_execute(installation / "bin"):
        return installation / "bin"
    copy = copy_installation(installation, place.root) / "bin"
    if not account.can_execute(copy):
        output = "it may lie on a file system mounted noexec"
        try:
            output = account.run([copy / "postgres", "--version"]).stdout.strip() or output
        except OSError as error:
            output = f"{error}; {output}"
        raise EmbeddedPostgresError(
            f"The database server {copy / 'postgres'} cannot be executed ({output}). {WAY_OUT}"
        )
    return copy


def write_private(path: Path, text: str) -> None:
    """Replaces a file in one step, readable by its owner only from the first moment."""
    partial = path.with_name(path.name + ".partial")
    partial.unlink(missing_ok=True)
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    if os.geteuid() == 0:
        # Root may be looking after an ordinary user's cluster, who must read it again tomorrow.
        os.chown(partial, path.parent.stat().st_uid, -1)
    partial.rename(path)
