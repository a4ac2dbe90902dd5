from pathlib import Path

from mtmkl_suite.config.against import published_papers
from mtmkl_suite.config.load import load_paper
from mtmkl_suite.report.publish import publish
from mtmkl_suite.report.research_object import write_research_object
from mtmkl_suite.run.jobs import job_log

with job_log(snakemake):
    publish(
        snakemake.params.configs,
        snakemake.params.results,
        Path("figures"),
        tier=snakemake.params.tier,
    )
    # Of all papers, also if only some were run.
    papers = [load_paper(paper, "paper") for paper in published_papers()]
    write_research_object(papers, Path())
