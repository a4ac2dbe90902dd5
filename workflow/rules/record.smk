# What other programs read of a paper: scores, statistics, verdicts, claims, provenance.
rule record:
    input:
        lambda w: fit_files(w.paper),
        lambda w: all_data_files(w.paper),
        lambda w: written_files(w.paper),
        lambda w: published_numbers(w.paper),
    output:
        texts(ANY.record()),
    log:
        log_of("{paper}/record"),
    conda:
        "../../environment.yml"
    params:
        config=lambda w: PAPERS[w.paper],
        folder=folder_of,
        run=RUN,
    script:
        "../scripts/record.py"
