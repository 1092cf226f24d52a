# syntax=docker/dockerfile:1
# Image of embedding models, one directory each, for the image volume of the Helm chart. It has no program.
#
#   docker build --file deploy/models.Dockerfile --tag models/minilm:1 .

FROM python:3.13-slim-bookworm AS build
WORKDIR /source
COPY scripts/models.sh scripts/
COPY scripts/models scripts/models
RUN scripts/models.sh /models

FROM scratch
LABEL org.opencontainers.image.title="Embedding models for pidq" \
      org.opencontainers.image.description="all-MiniLM-L6-v2 and a static model distilled from it" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /models /
