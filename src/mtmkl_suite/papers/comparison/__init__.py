"""The methods of all papers, compared: figures."""
