# Epsilon Lab behind its balancer, as a user of its own; see docs/operations.md.
FROM debian:bookworm-slim AS built
RUN apt-get update \
    && apt-get install -y --no-install-recommends python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY requirements.txt ./
RUN python3 -m venv /opt/epsilon-lab \
    && /opt/epsilon-lab/bin/pip install --no-cache-dir --require-hashes -r requirements.txt
COPY pyproject.toml setup.py README.md LICENSE ./
COPY .streamlit .streamlit
COPY data data
COPY dpcore dpcore
COPY dashboard dashboard
RUN /opt/epsilon-lab/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends python3 haproxy \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --create-home --home-dir /var/lib/epsilon-lab epsilon-lab \
    && install -d -o epsilon-lab -m 700 /var/lib/epsilon-lab/key /var/lib/epsilon-lab/data
COPY --from=built /opt/epsilon-lab /opt/epsilon-lab
USER 10001
WORKDIR /var/lib/epsilon-lab
ENV PATH=/opt/epsilon-lab/bin:/usr/sbin:/usr/bin:/bin \
    NUMBA_CACHE_DIR=/tmp/numba \
    OMP_NUM_THREADS=1 \
    OPENBLAS_NUM_THREADS=1
EXPOSE 8501
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
    CMD ["python3", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=2)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["epsilon-lab"]
CMD ["serve", "--address", "0.0.0.0", "--port", "8501", "--replicas", "2"]
