def release_tab(*a):
    pass


def quantile_release(*a):
    pass


def rule_release(*a):
    pass
