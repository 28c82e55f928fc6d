def release_tab(*a):
    pass
