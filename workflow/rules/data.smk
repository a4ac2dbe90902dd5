# Data sets and their splits. `found` makes a set that has turned up since run again.
rule data_info:
    output:
        TIER + "/{paper}/data/{dataset}.json",
    params:
        variant=variant_of,
        seed=RUN["seed"],
        download=RUN["data"]["download"],
        on_missing=RUN["on_missing_data"],
        found=lambda w: pipeline.data_source(variant_of(w)),
    log:
        "logs/{paper}/data/{dataset}.log",
    script:
        "../scripts/data_info.py"


rule splits:
    input:
        info=rules.data_info.output,
    output:
        TIER + "/{paper}/splits/{protocol}/{dataset}.npz",
    params:
        variant=variant_of,
        protocol=lambda w: {
            "id": w.protocol,
            **PAPERS[w.paper]["protocols"][w.protocol],
        },
        seed=RUN["seed"],
    log:
        "logs/{paper}/splits/{protocol}/{dataset}.log",
    script:
        "../scripts/splits.py"
