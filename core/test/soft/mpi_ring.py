# SPDX-License-Identifier: MIT
"""A program of Open MPI: two ranks exchange messages of several sizes, and check them."""

import ctypes
import sys


def pattern(rank, size):
    return bytes((i * 7 + rank) % 251 for i in range(251)) * (size // 251 + 1)


def main():
    try:
        mpi = ctypes.CDLL("libmpi.so.40", ctypes.RTLD_GLOBAL)
    except OSError:
        sys.exit("no MPI library")
    world, byte = (
        ctypes.byref(ctypes.c_char.in_dll(mpi, name)) for name in ("ompi_mpi_comm_world", "ompi_mpi_byte")
    )
    number = ctypes.c_int()
    assert not mpi.MPI_Init(None, None)
    assert not mpi.MPI_Comm_rank(world, ctypes.byref(number))
    own, other = number.value, 1 - number.value
    for size in (1, 1000, 100_000, 3_000_000):
        found = ctypes.create_string_buffer(size)
        assert not mpi.MPI_Sendrecv(
            pattern(own, size), size, byte, other, 5, found, size, byte, other, 5, world, None
        )
        assert found.raw == pattern(other, size)[:size], size
    assert not mpi.MPI_Finalize()
    print("all received", flush=True)


main()
