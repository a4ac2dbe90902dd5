"""Dual problems of support vector machines and logistic regression."""
