# Table of contents: data -> fits -> results -> report.
from snakemake.utils import min_version

min_version("9.0")


configfile: "config/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/fit.smk"
include: "workflow/rules/results.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/publish.smk"


rule all:
    default_target: True
    input:
        str(RESULTS.report),
        str(RESULTS.finished),
        [FILES.record(paper) for paper in FILES.papers],
