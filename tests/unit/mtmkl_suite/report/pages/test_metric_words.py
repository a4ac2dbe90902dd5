from mtmkl_suite.report.pages.metric_words import metric_words, metrics_in_words


def test_metrics_have_words():
    assert metric_words("rmse") == "root mean squared error"
    assert metric_words("new_metric") == "new metric"
    assert metrics_in_words("auc, accuracy") == "AUC, accuracy"
