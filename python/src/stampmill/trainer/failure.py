"""What ends the program, and what it says then."""


class Failure(Exception):
    """One line for the user: what could not be done, and what helps."""
