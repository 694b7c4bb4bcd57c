"""Takes rights away from the process that reads files. Linux only; nothing here can be undone.

Four fences, each of which holds when another is not to be had: no network (a namespace of its own),
no files but programs and a scratch folder (Landlock), no sockets and, but for those who need them,
no threads and no other programs (seccomp), and bounds on memory, processor time and what is written
(rlimits).
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import resource
import signal
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True)

_CLONE_NEWUSER, _CLONE_NEWNET, _CLONE_THREAD = 0x10000000, 0x40000000, 0x00010000
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_FILTER = 1, 38, 22, 2


@dataclass(frozen=True, slots=True)
class _Machine:
    """Numbers of system calls, which differ between processors."""

    audit_arch: int
    socket: int
    others: tuple[int, ...]  # io_uring_setup, ptrace, process_vm_readv and _writev
    clone: int
    clone3: int
    programs: tuple[int, ...]  # fork, vfork, execve, execveat


_MACHINES = {
    "x86_64": _Machine(0xC000003E, 41, (425, 101, 310, 311), 56, 435, (57, 58, 59, 322)),
    "aarch64": _Machine(0xC00000B7, 198, (425, 117, 270, 271), 220, 435, (221, 281)),
}


def leave_network() -> bool:
    """Move into a network namespace with nothing in it. False where the system forbids it."""
    return any(
        _libc.unshare(flags) == 0 for flags in (_CLONE_NEWNET, _CLONE_NEWUSER | _CLONE_NEWNET)
    )


def die_with_parent() -> None:
    """SIGKILL to this process when the one that forked it ends."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def limit_resources(*, memory: int, cpu_seconds: int, file_size: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


# --- Files ----------------------------------------------------------------------------------------

_READ = 1 << 0 | 1 << 2 | 1 << 3  # execute, read a file, read a folder
_READ_A_FILE = 1 << 0 | 1 << 2
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PATH_BENEATH = 1


def keep_only_files(*, readable: Iterable[Path], writable: Iterable[Path]) -> bool:
    """Open nothing outside these paths from now on. False where the kernel has no Landlock."""
    version = _libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return False
    everything = (1 << {1: 13, 2: 14}.get(version, 15)) - 1
    no_tcp = 0b11 if version >= 4 else 0
    only_own_signals_and_sockets = 0b11 if version >= 6 else 0
    attributes = struct.pack("QQQ", everything, no_tcp, only_own_signals_and_sockets)
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = _libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(size), 0)
    if ruleset < 0:
        return False
    for path in readable:
        _allow(ruleset, path, _READ)
    for path in writable:
        _allow(ruleset, path, everything)
    _forbid_new_privileges()
    restricted = _libc.syscall(_RESTRICT_SELF, ruleset, 0) == 0
    os.close(ruleset)
    return restricted


def _allow(ruleset: int, path: Path, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not path.is_dir():
            rights &= _READ_A_FILE | 1 << 1  # a file cannot hold files
        _libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, place), 0)
    finally:
        os.close(place)


# --- System calls ---------------------------------------------------------------------------------


def forbid_calls(*, programs: bool = False, threads: bool = False) -> bool:
    """Refuse sockets and looking into other processes; starting programs or threads too, unless allowed.

    False on a processor whose numbers are not known here, or where the system forbids it.
    """
    machine = _MACHINES.get(platform.machine())
    if machine is None:
        return False
    code = _filter(machine, programs=programs, threads=threads)
    buffer = ctypes.create_string_buffer(code)
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer))
    _forbid_new_privileges()
    return _libc.prctl(_PR_SET_SECCOMP, _SECCOMP_FILTER, program, 0, 0) == 0


def _filter(machine: _Machine, *, programs: bool, threads: bool) -> bytes:
    """A BPF program over `struct seccomp_data`: number at 0, architecture at 4, arguments from 16."""
    load, equal, at_least, has, give = 0x20, 0x15, 0x35, 0x45, 0x06
    allow, deny, unknown = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS
    program = [(load, 0, 0, 4), (equal, 1, 0, machine.audit_arch), (give, 0, 0, deny)]
    program += [(load, 0, 0, 0), (at_least, 0, 1, 0x40000000), (give, 0, 0, deny)]
    denied = [machine.socket, *machine.others]
    if not programs:
        denied += machine.programs
        if threads:
            # The flags of clone3 lie in memory, which a filter cannot read: libc falls back to clone.
            program += [(equal, 0, 1, machine.clone3), (give, 0, 0, unknown)]
        else:
            denied += [machine.clone, machine.clone3]
    for number in denied:
        program += [(equal, 0, 1, number), (give, 0, 0, deny)]
    if threads and not programs:
        program += [(equal, 0, 3, machine.clone), (load, 0, 0, 16)]
        program += [(has, 1, 0, _CLONE_THREAD), (give, 0, 0, deny)]
    program.append((give, 0, 0, allow))
    return b"".join(struct.pack("HBBI", *instruction) for instruction in program)


def _forbid_new_privileges() -> None:
    _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
