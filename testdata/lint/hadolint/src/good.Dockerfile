FROM debian:12.5
USER nobody
