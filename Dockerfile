# Two images from one file: `server` (the dashboard, the default) and `trainer` (the same with TensorFlow, for the demo).

ARG PYTHON=3.12

FROM python:${PYTHON}-slim AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /src
RUN python -m pip install build
# Dependencies first: they change seldom, the sources often. Only the version is needed to know them.
COPY pyproject.toml README.md LICENSE ./
COPY client_hook/gradwatch/__init__.py client_hook/gradwatch/__init__.py
RUN python -m venv /opt/gradwatch && mkdir -p server/gradwatch_server frontend/gradwatch_frontend \
    && /opt/gradwatch/bin/pip install '.[server,postgres]' && /opt/gradwatch/bin/pip uninstall --yes gradwatch
COPY client_hook client_hook
COPY server server
COPY frontend frontend
RUN python -m build --wheel --outdir /wheels && /opt/gradwatch/bin/pip install --no-deps /wheels/gradwatch-*.whl

FROM build AS build-trainer
RUN /opt/gradwatch/bin/pip install "$(ls /wheels/gradwatch-*.whl)[demo]" \
    "$([ "$(uname -m)" = x86_64 ] && echo tensorflow-cpu || echo tensorflow)"

FROM python:${PYTHON}-slim AS base
RUN useradd --system --uid 10001 --create-home --home-dir /home/gradwatch gradwatch \
    && install --directory --owner gradwatch --group gradwatch /data
ENV PATH=/opt/gradwatch/bin:$PATH PYTHONUNBUFFERED=1 GRADWATCH_DIR=/data
USER gradwatch
WORKDIR /data

FROM base AS trainer
COPY --from=build-trainer /opt/gradwatch /opt/gradwatch
ENTRYPOINT ["gradwatch"]
CMD ["demo", "--no-browser"]

# The last stage is what `docker build .` makes.
FROM base AS server
COPY --from=build /opt/gradwatch /opt/gradwatch
# Inside a container every address is reached only through a published port, but whoever reaches that port reaches the
# server: so it starts only with GRADWATCH_TOKEN set, or with GRADWATCH_INSECURE=true where the port is not open to others.
ENV GRADWATCH_HOST=0.0.0.0 GRADWATCH_PORT=8470
EXPOSE 8470
VOLUME /data
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen('http://127.0.0.1:' + os.environ['GRADWATCH_PORT'] + '/healthz', timeout=2)"]
ENTRYPOINT ["gradwatch"]
CMD ["serve"]
