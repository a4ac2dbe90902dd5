from method_cases import FEW_KERNELS, KERNELS, MIXED, SWITCHED, Case
from model_objectives import switched

CASES = {
    "MEDRegressor": Case(
        settings={"tube": {"kernels": FEW_KERNELS}, "squared": {"loss": "squared"}},
        penalty=switched,
        variants=[{}, MIXED, {"loss": "squared"}, KERNELS | {"loss": "squared"}],
        grid=SWITCHED,
    )
}
