# syntax=docker/dockerfile:1
# Image of pidq with text recognition (Tesseract and pdftoppm) and, optionally, LibreOffice, all from Debian.
#
#   docker build --file deploy/recognition.Dockerfile --build-arg PIDQ=pidq:0.1.0 --tag pidq-recognition:0.1.0 .
#
# The programs of pidq are those of the other image, and need the same Debian release.

ARG PIDQ=pidq:0.1.0
ARG DEBIAN_RELEASE=bookworm

FROM ${PIDQ} AS pidq

FROM debian:${DEBIAN_RELEASE}-slim
# Languages of text recognition, by their names in Tesseract, separated by spaces.
ARG LANGUAGES=eng
# `on` installs LibreOffice; PIDQ_SOFFICE=/usr/bin/soffice turns it on.
ARG OFFICE=off
RUN apt-get update && \
    apt-get install --yes --no-install-recommends ca-certificates poppler-utils tesseract-ocr \
        $(printf 'tesseract-ocr-%s ' ${LANGUAGES} | tr _ -) \
        $([ "${OFFICE}" != on ] || echo libreoffice-writer-nogui libreoffice-impress-nogui) && \
    rm -rf /var/lib/apt/lists/* && \
    groupadd --gid 65532 pidq && \
    useradd --uid 65532 --gid 65532 --home-dir /data --no-create-home --shell /usr/sbin/nologin pidq && \
    install --directory --owner=65532 --group=65532 --mode=700 /data && \
    install --directory /models
COPY --from=pidq /usr/local/ /usr/local/
COPY --from=pidq /usr/share/doc/pidq/ /usr/share/doc/pidq/

# The variables of deploy/Dockerfile, and those of text recognition.
ENV PATH=/usr/local/bin:/usr/bin:/bin \
    HOME=/data \
    SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt \
    PIDQ_DATA_DIR=/data \
    PIDQ_DATABASE_URL=sqlite:/data/pidq.db \
    PIDQ_LISTEN=0.0.0.0:8000 \
    PIDQ_DASHBOARD_LISTEN=0.0.0.0:3000 \
    PIDQ_INSECURE_HTTP=on \
    PIDQ_LOG_FORMAT=json \
    PIDQ_TESSERACT=/usr/bin/tesseract \
    PIDQ_PDFTOPPM=/usr/bin/pdftoppm
WORKDIR /data
USER 65532:65532
VOLUME ["/data"]
EXPOSE 8000 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=6s --start-period=60s --retries=3 CMD ["/usr/local/bin/pidq", "health"]
ENTRYPOINT ["/usr/local/bin/pidq"]
CMD ["up"]
