FROM debian:12
RUM echo
