# syntax=docker/dockerfile:1
# Builds Locum from this folder and puts it beside git and CA certificates in a small image, as an ordinary user.
#   docker build -t locum .
#   docker run --rm -v "$PWD:/work" locum run --mode ask "What does this project do?"

FROM rust:1.95-slim-bookworm AS build
# libgit2 and ring are compiled from source: a C compiler and make are all they need.
RUN apt-get update \
 && apt-get install -y --no-install-recommends gcc libc6-dev make \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY Cargo.toml Cargo.lock ./
COPY src src
COPY config config
RUN cargo build --locked --profile dist --bin locum \
 && install -D target/dist/locum /out/locum

FROM debian:bookworm-slim AS base
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates git \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 10001 locum
USER locum
WORKDIR /work
ENTRYPOINT ["locum"]
CMD ["--help"]

# The image of a release: its static programs, unpacked to dist/amd64 and dist/arm64 before (.github/workflows/release.yml).
FROM base AS released
ARG TARGETARCH
COPY dist/${TARGETARCH}/locum /usr/local/bin/locum

FROM base
COPY --from=build /out/locum /usr/local/bin/locum
