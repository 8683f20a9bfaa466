"""The one exception that a user's mistake or a foreign file raises."""


class UserError(Exception):
    """Something that the user can put right, said in one line.

    The message names what is wrong, in which file and key, and what to do. The command line
    prints it without a traceback and exits with status 1.
    """
