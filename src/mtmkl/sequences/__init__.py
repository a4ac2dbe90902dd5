"""Features of sequences of letters, such as DNA, and a reader of FASTA files."""

from mtmkl.sequences.fasta import FastaRecord, read_fasta
from mtmkl.sequences.spectrum import SpectrumFeatures
from mtmkl.sequences.weighted_degree import WeightedDegreeFeatures

__all__ = ["FastaRecord", "SpectrumFeatures", "WeightedDegreeFeatures", "read_fasta"]
