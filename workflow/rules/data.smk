# Data sets and their splits. `found` makes a set that has turned up since run again.
rule data_info:
    output:
        "results/{run}/{paper}/data/{dataset}.json",
    log:
        "logs/{run}/{paper}/data/{dataset}.log",
    conda:
        "../../environment.yml"
    params:
        variant=variant_of,
        seed=RUN["seed"],
        download=RUN["download"],
        on_missing=RUN["on_missing_data"],
        found=lambda w: pipeline.data_source(variant_of(w)),
    script:
        "../scripts/data_info.py"


rule splits:
    input:
        info=rules.data_info.output[0],
    output:
        "results/{run}/{paper}/splits/{protocol}/{dataset}.npz",
    log:
        "logs/{run}/{paper}/splits/{protocol}/{dataset}.log",
    conda:
        "../../environment.yml"
    params:
        variant=variant_of,
        protocol=lambda w: {
            "id": w.protocol,
            **PAPERS[w.paper]["protocols"][w.protocol],
        },
        seed=RUN["seed"],
    script:
        "../scripts/splits.py"
