"""Downloads, mirrors and the integrity of files."""
