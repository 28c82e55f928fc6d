def release_tab(*a):
    pass


def quantile_release(*a):
    pass
