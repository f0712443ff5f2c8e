#!/usr/bin/env python3
"""Dues of the harbour."""

import math

# no heading
RATE = 1.2


def dues(length):
    """Return the dues for a length in metres."""
    if length <= 0:
        raise ValueError(length)

    return math.ceil(RATE * length)


class Berth:
    名称 = "北"

	tabbed = True
