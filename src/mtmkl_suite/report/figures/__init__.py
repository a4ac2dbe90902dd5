"""Drawing of figures."""
