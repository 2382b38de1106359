"""Keeps an evaluation on this machine: switches, a socket guard, and facts for `doctor`."""
