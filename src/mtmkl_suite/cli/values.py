"""Values of options."""

import argparse


def positive(text: str) -> int:
    """Return a positive whole number, as argparse asks for it."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value
